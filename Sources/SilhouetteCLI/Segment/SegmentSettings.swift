import Base
import CPUBackend
import ModelGraph
import Silhouette

/// What `silhouette segment` writes for each picture.
package enum SegmentOutput: String, CaseIterable, Sendable {
    /// Class indices as an indexed PNG in the palette's colours.
    case mask
    /// The picture under the colours of its classes.
    case overlay
    /// The chosen classes alone, everything else transparent.
    case cutout
    /// The chosen classes before another background.
    case composite
    /// The probability of each chosen class as an 8-bit grey picture.
    case confidence
    /// The network's scores for every class, as a NumPy array.
    case scores

    /// The ending of the files.
    var fileExtension: String { self == .scores ? "npy" : "png" }

    /// Whether the output shows the picture itself, and so has its size.
    var showsPicture: Bool { self == .overlay || self == .cutout || self == .composite }
}

/// What the command line of `silhouette segment` asks for.
package struct SegmentSettings: Sendable {
    package var inputs: [String] = []
    package var destination: String?
    package var model: String?
    package var device: Device = .automatic
    package var precision: Precision = .float32
    package var tuning: Tuning?
    /// What was named; `output` is what is made.
    package var namedOutput: SegmentOutput?
    package var maskSize: MaskSize = .source
    package var classes: ClassSelection?
    package var droppedClasses: ClassSelection?
    package var effects = EffectSettings()
    package var fit: Fit = .stretch
    package var tileSide: Int?
    package var threads: Int?
    package var modelMemory = ModelLimits.memoryByteCount
    package var maxPixels: Int?
    package var isVerbose = false

    package init() {}

    /// What is made: an overlay, or a composite where there is a background for it.
    package var output: SegmentOutput { namedOutput ?? (effects.background == nil ? .overlay : .composite) }
}

/// Threads that may be asked for.
let threadRange = 1...CPUBackend.mostThreads

extension Subcommand<SegmentSettings> {
    /// `silhouette segment`.
    package static let segment = Subcommand(
        name: "segment",
        abstract: "find the objects in photographs and write masks or pictures of them",
        operands: "PHOTO...",
        introduction: """
            Finds the class of every pixel and writes a picture of it. PHOTO is a PNG, JPEG or WebP file, a folder of \
            them (folders inside it are left out), or - for standard input.
            """,
        details: """
            Without -o the result of DIR/NAME.jpg is NAME.OUTPUT.png in the current folder (NAME.CLASS.png for
            confidence, NAME.scores.npy for scores). In a folder given with -o it is NAME.png (or NAME.npy).
            Transparent parts of a photograph count as white; in a cut-out they stay transparent.
            A photograph that cannot be read does not stop the others.

            The model is the one given with -m; else the one that the variable SILHOUETTE_MODEL names; else
            the one in ~/.cache/silhouette, where Weights/fetch puts it; else the default model, which comes
            with Silhouette.

            exit code: 0 all done, 1 something could not be done, 2 the command line is wrong

            examples:
              silhouette segment photo.jpg                          writes photo.overlay.png
              silhouette segment photo.jpg --output mask -o m.png   class indices as a palette picture
              silhouette segment photos/ -o out/ --output cutout --classes person,dog
              silhouette segment photo.jpg --background blur        writes photo.composite.png
              cat photo.jpg | silhouette segment - -o - > overlay.png
            """,
        options: [
            .text(
                "output-file", "o", "FILE|DIR|-",
                """
                Where the result goes. With several photographs a folder, which is made where it does not exist; - is \
                standard output. Overlays and composites may also end in .jpg or .webp, cut-outs in .webp.
                """,
                \.destination),
            .text("model", "m", "FILE", "The model (see below).", \.model),
            .modelMemory(\.modelMemory),
            .device(\.device),
            .precision(\.precision),
            .tuning(\.tuning),
            .word(
                "output",
                """
                What to write.
                mask: the class of each pixel, as an 8-bit PNG with palette.
                overlay: the photograph under the colours of its classes.
                cutout: the chosen classes on transparent ground.
                composite: the chosen classes before another background (--background).
                confidence: how likely each class is, as grey PNGs, one a class.
                scores: the network's output, as a float32 array (.npy), height x width x classes.
                (default: overlay)
                """,
                \.namedOutput),
            .choice(
                "mask-size", nil, "Size of masks, confidences and scores: the photograph's or the network's.",
                \.maskSize, default: .source),
        ]
            + Option.classes(
                \.classes, \.droppedClasses, default: "all; for a cutout and a composite all but background")
            + Option.effects(\.effects) + Option.fit(of: "photograph", \.fit, \.tileSide) + [
                .threads(\.threads),
                .integer(
                    "max-pixels", in: 1...1_000_000_000,
                    "Refuse photographs with more pixels. (default: \(ImageLimits().maxPixels))", \.maxPixels
                ),
                .flag("verbose", "v", "Say which model and device are used, and how long each step took.", \.isVerbose),
            ],
        addOperand: { settings, operand in settings.inputs.append(operand) },
        check: { settings throws(UsageError) in try settings.check() })
}

extension Option {
    /// `--device`, the same for all commands.
    static func device(
        _ member: WritableKeyPath<Settings, Device> & Sendable, default standard: String = "auto"
    ) -> Option {
        value(
            "device", "d", "auto|cpu|vulkan[:INDEX|:NAME]",
            """
            What runs the network.
            auto: the best graphics processor, or the processor where there is none.
            vulkan: the best Vulkan device, or the one with this index or name; a software device only so.
            (default: \(standard))
            """
        ) { settings, value throws(UsageError) in
            guard let device = Device(value) else {
                let words = ["auto", "cpu", "vulkan"]
                let hint = nearest(to: value, among: words).map { "; did you mean \($0)?" } ?? ""
                throw UsageError("is auto, cpu, vulkan, vulkan:INDEX or vulkan:NAME, not '\(value)'\(hint)")
            }
            settings[keyPath: member] = device
        }
    }

    /// `--precision`, the same for all commands.
    static func precision(_ member: WritableKeyPath<Settings, Precision> & Sendable) -> Option {
        choice(
            "precision", nil, "How a Vulkan device stores activations and weights; the processor computes in fp32.",
            member, default: .float32)
    }

    /// `--tune`, the same for all commands.
    static func tuning(_ member: WritableKeyPath<Settings, Tuning?> & Sendable) -> Option {
        value(
            "tune", nil, "off|quick|full",
            """
            How long to look, the first time, for the fastest variants of a Vulkan device's shaders; results do not change. \
            quick: about a second, full: about half a minute.
            (default: quick on a graphics processor, off on a software device)
            """
        ) { settings, value throws(UsageError) in
            guard let tuning = Tuning(rawValue: value) else {
                let words = Tuning.allCases.map(\.rawValue)
                let hint = nearest(to: value, among: words).map { "; did you mean \($0)?" } ?? ""
                throw UsageError("is \(words.listed(with: "or")), not '\(value)'\(hint)")
            }
            settings[keyPath: member] = tuning
        }
    }

    /// `--threads`, the same for all commands.
    static func threads(_ member: WritableKeyPath<Settings, Int?> & Sendable) -> Option {
        integer("threads", in: threadRange, "Threads of the network. (default: one for each core)", member)
    }
}

extension Precision {
    /// Refuses what the processor cannot do.
    func check(on device: Device) throws(UsageError) {
        guard device != .cpu || self == .float32 else {
            throw UsageError("--precision \(rawValue) needs a Vulkan device; the processor computes in fp32")
        }
    }
}

extension Tuning {
    /// Refuses what the processor has no use for.
    func check(on device: Device) throws(UsageError) {
        guard device != .cpu || self == .off else {
            throw UsageError("--tune \(rawValue) needs a Vulkan device; the processor has nothing to tune")
        }
    }
}

extension SegmentSettings {
    /// Checks what the options say together.
    func check() throws(UsageError) {
        guard !inputs.isEmpty else { throw UsageError("no photograph given") }
        try precision.check(on: device)
        try tuning?.check(on: device)
        guard inputs.filter({ $0 == "-" }).count <= 1 else { throw UsageError("standard input (-) is given twice") }
        if let empty = inputs.first(where: \.isEmpty) { throw UsageError("a photograph's name is empty: '\(empty)'") }
        if output.showsPicture, maskSize == .model {
            throw UsageError(
                "--mask-size model does not go with --output \(output.rawValue), which has the photograph's size")
        }
        if fit == .tile, maskSize == .model {
            throw UsageError("--mask-size model does not go with --fit tile: the network has a mask for each tile")
        }
        try fit.check(tileSide: tileSide)
        if output == .scores, classes != nil || droppedClasses != nil {
            throw UsageError(
                "--\(classes == nil ? "drop-classes" : "classes") does not go with --output scores, which has every class"
            )
        }
        try checkClassLists(classes, droppedClasses)
        if maskSize == .model, effects.edgeOptions != nil {
            throw UsageError("--edges, --threshold and --shift need masks of the photograph's size")
        }
        try effects.check(output.rawValue)
    }
}
