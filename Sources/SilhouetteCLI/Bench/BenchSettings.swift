import ModelGraph
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
    package var modelMemory = ModelLimits.memoryByteCount
    package var batches = [1]
    package var precisions: [Precision] = [.float32]
    package var tuning: Tuning?
    package var iterations = 50
    package var warmup = 5
    package var scope: BenchScope = .network
    package var picture: String?
    package var listsLayers = false
    package var printsJSON = false
    package var comparedFile: String?
    package var reportFile: String?

    package init() {}

    /// How many runs are timed layer by layer: as many say it well, and a million would not fit into memory.
    package var profiledRunCount: Int { min(iterations, 1000) }
}

extension Subcommand<BenchSettings> {
    /// `silhouette bench`.
    package static let bench = Subcommand(
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
            GFLOP/s:   2 x the multiply-adds of the convolutions, over the median latency
            GB/s:      what all layers read and write, weights included, over the median latency
            floor:     what the layer would take at the best rates measured on this device, those of one large
                       convolution, one large addition or a layer that did better; whichever takes longer:
                       its operations, or the bytes that it must move. Where the best rate is that of a few MB,
                       it may be a cache's, which layers that move more cannot reach
            verdict:   faster or slower where the medians differ by at least 3 per cent, and the notches
                       around them, median +- 1.57 x (p75 - p25) / sqrt(runs), do not meet. Runs are compared
                       with those of the same model, precision, batch, scope and input, on the same device
                       with the same threads where the file has it, or else on each that it has.

            exit code: 0 done, of a sweep at least in part; 1 nothing could be done, or something is slower than
                       before on the same device; 2 the command line is wrong

            examples:
              silhouette bench --threads 2 --iterations 100 --layers
              silhouette bench -d vulkan --precision fp32,fp16 --batch 1,4,16,64 --layers --report card.html
              silhouette bench --json > before.json         and later
              silhouette bench --compare before.json
            """,
        options: [
            .text("model", "m", "FILE", "The model (as for silhouette segment).", \.model),
            .modelMemory(\.modelMemory),
            .device(\.device),
            .threads(\.threads),
            .list(
                "batch", "N[,N...]", "Pictures in every run, 1 to 256; of several, one after the other. (default: 1)",
                \.batches
            ) { word throws(UsageError) in
                guard let count = Int(word), (1...256).contains(count) else {
                    throw UsageError("needs whole numbers from 1 to 256, not '\(word)'")
                }
                return count
            },
            .list(
                "precision", "fp32|fp16[,...]",
                "How a Vulkan device stores activations and weights; of both, one after the other. The processor computes in fp32. (default: fp32)",
                \.precisions
            ) { word throws(UsageError) in
                guard let precision = Precision(rawValue: word) else {
                    throw UsageError("is fp32, fp16 or both with a comma between them, not '\(word)'")
                }
                return precision
            },
            .tuning(\.tuning),
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
            .flag(
                "layers", nil,
                "Say how long each layer took, too, beside its floor; measured in up to 1000 more runs. (scope network)",
                \.listsLayers),
            .flag("json", nil, "Print one JSON object in place of the table.", \.printsJSON),
            .text(
                "compare", nil, "OLD.json", "Say what is faster or slower than in a file of --json.", \.comparedFile),
            .text(
                "report", nil, "FILE.html", "Also write a page with facts, tables and charts; it needs nothing else.",
                \.reportFile),
        ],
        addOperand: { settings, operand throws(UsageError) in
            guard settings.picture == nil else { throw UsageError("more than one photograph: '\(operand)'") }
            settings.picture = operand
        },
        check: { settings throws(UsageError) in
            for precision in settings.precisions { try precision.check(on: settings.device) }
            try settings.tuning?.check(on: settings.device)
            if settings.scope == .call {
                guard settings.picture != nil else { throw UsageError("--scope call needs a photograph") }
                guard settings.batches == [1] else { throw UsageError("--scope call runs one picture at a time") }
                guard !settings.listsLayers else { throw UsageError("--layers goes with --scope network only") }
            }
            if settings.reportFile == "-" {
                throw UsageError("--report needs the name of a file, as standard output has the figures, not '-'")
            }
            if let path = settings.reportFile, path.hasSuffix("/") {
                throw UsageError("--report needs the name of a file, not of a folder: '\(path)'")
            }
        })
}

extension Option<BenchSettings> {
    /// An option whose value is a list with commas; what stands there twice counts once.
    fileprivate static func list<Element: Equatable & Sendable>(
        _ name: String, _ placeholder: String, _ help: String,
        _ member: WritableKeyPath<BenchSettings, [Element]> & Sendable,
        _ read: @escaping @Sendable (String) throws(UsageError) -> Element
    ) -> Option {
        .value(name, nil, placeholder, help) { settings, value throws(UsageError) in
            var elements: [Element] = []
            for word in value.split(separator: ",", omittingEmptySubsequences: false) {
                let element = try read(String(word))
                if !elements.contains(element) { elements.append(element) }
            }
            settings[keyPath: member] = elements
        }
    }
}
