import Silhouette

/// What is timed.
package enum BenchScope: String, CaseIterable, Sendable {
    /// Normalised float tensor in host memory -> 8-bit category map at model size in host memory.
    case network
    /// RGB picture in memory -> category mask at its size.
    case call
}

/// What the command line of `silhouette bench` asks for.
package struct BenchSettings: Sendable {
    package var model: String?
    package var device: Device = .automatic
    package var threads: Int?
    package var batch = 1
    package var precision: Precision = .float32
    package var iterations = 50
    package var warmup = 5
    package var scope: BenchScope = .network
    package var picture: String?
    package var listsLayers = false
    package var printsJSON = false

    package init() {}
}

extension Command<BenchSettings> {
    /// `silhouette bench`.
    package static let bench = Command(
        name: "bench",
        abstract: "measure how fast a model runs on a device",
        operands: "[PHOTO]",
        introduction: """
            Runs a model again and again and prints how long it took. Without PHOTO the input is seeded noise; noise \
            has more class borders than a photograph, so masks take longer.
            """,
        details: """
            first run: from reading the model file to the first result, all preparation included
            images/s:  batch size over the median latency

            example:
              silhouette bench --threads 2 --iterations 100 --layers
            """,
        options: [
            .text("model", "m", "FILE", "The model (as for silhouette segment).", \.model),
            .device(\.device),
            .threads(\.threads),
            .integer("batch", in: 1...256, "Pictures in every run. (default: 1)", \.batch),
            .precision(\.precision),
            .integer("iterations", in: 1...1_000_000, "Runs that are timed. (default: 50)", \.iterations),
            .integer("warmup", in: 0...1_000_000, "Runs before them. (default: 5)", \.warmup),
            .choice(
                "scope", nil,
                """
                What is timed.
                network: normalised floats in memory to the category map at the network's size.
                call: an RGB picture in memory to the category mask at its size; needs PHOTO.
                """,
                \.scope, default: .network),
            .text("input", nil, "PHOTO", "The same as the operand PHOTO.", \.picture),
            .flag("layers", nil, "Say how long each layer took, too. (scope network)", \.listsLayers),
            .flag("json", nil, "Print one JSON object in place of the table.", \.printsJSON),
        ],
        addOperand: { settings, operand throws(UsageError) in
            guard settings.picture == nil else { throw UsageError("more than one photograph: '\(operand)'") }
            settings.picture = operand
        },
        check: { settings throws(UsageError) in
            try settings.precision.check(on: settings.device)
            if settings.scope == .call {
                guard settings.picture != nil else { throw UsageError("--scope call needs a photograph") }
                guard settings.batch == 1 else { throw UsageError("--scope call runs one picture at a time") }
                guard !settings.listsLayers else { throw UsageError("--layers goes with --scope network only") }
            }
        })
}
