import ModelGraph
import Silhouette

/// How numbers are stored while a network is verified.
package enum VerifiedPrecision: String, CaseIterable, Sendable {
    case fp32, fp16, both

    /// The storage formats, one after the other.
    package var formats: [Weights.Format] {
        switch self {
        case .fp32: [.float32]
        case .fp16: [.float16]
        case .both: [.float32, .float16]
        }
    }
}

/// What the command line of `silhouette verify` asks for.
package struct VerifySettings: Sendable {
    package var model: String?
    package var device: Device = .vulkan(.best)
    package var threads: Int?
    package var modelMemory = ModelLimits.memoryByteCount
    package var precision: VerifiedPrecision = .both
    package var tuning: Tuning?
    package var picture: String?
    package var printsJSON = false

    package init() {}
}

extension Subcommand<VerifySettings> {
    /// `silhouette verify`.
    package static let verify = Subcommand(
        name: "verify",
        abstract: "check that a device computes what the processor computes",
        operands: "[PHOTO]",
        introduction: """
            Runs every layer of a model on a device and on the processor, each layer on the same inputs, and shows how \
            far the results are apart; then the whole network. Without PHOTO the picture is a drawn one, the same \
            every time.
            """,
        details: """
            error:   the largest |x - r| / max(1, |r|) of a layer, r being the processor's value; at most 1e-4
                     where numbers are stored in 32 bits, 2e-3 where in 16: there r is computed from weights
                     and inputs rounded to 16 bits.
            network: scores may be off by 2e-3, in 16 bits by twice what the processor is off when it rounds
                     in the same way, but probabilities by 0.25 at most and by 0.005 in the mean; classes
                     may differ in near ties only; two runs must give the same bytes.

            exit code: 0 all within bounds, 1 something is not or could not be done, 2 the command line is wrong

            examples:
              silhouette verify                         the best graphics card, or else a software device
              silhouette verify -d vulkan:1             the second device, as silhouette devices counts
              silhouette verify -d cpu                  the processor's fast instructions against plain ones
            """,
        options: [
            .text("model", "m", "FILE", "The model (as for silhouette segment).", \.model),
            .modelMemory(\.modelMemory),
            .device(\.device, default: "vulkan"),
            .choice(
                "precision", nil, "How numbers are stored on the device.", \.precision, default: .both),
            .tuning(\.tuning),
            .text("input", nil, "PHOTO", "The same as the operand PHOTO.", \.picture),
            .threads(\.threads),
            .flag("json", nil, "Print one JSON object in place of the table.", \.printsJSON),
        ],
        addOperand: { settings, operand throws(UsageError) in
            guard settings.picture == nil else { throw UsageError("more than one photograph: '\(operand)'") }
            settings.picture = operand
        },
        check: { settings throws(UsageError) in
            try settings.tuning?.check(on: settings.device)
            if settings.precision == .fp16 { try Precision.float16.check(on: settings.device) }
        })
}
