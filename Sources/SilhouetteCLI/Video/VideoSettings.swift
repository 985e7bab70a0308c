import Base
import Imaging
import ModelGraph
import Silhouette
import Video

/// What `silhouette video` makes of each frame.
package enum VideoOutput: String, CaseIterable, Sendable {
    /// The frame under the colours of its classes.
    case overlay
    /// The chosen classes alone, everything else transparent.
    case cutout
    /// The chosen classes before another background.
    case composite

    /// Whether frames have transparent parts.
    var hasAlpha: Bool { self == .cutout }
}

/// What uncompressed frames on standard output look like.
package enum UncompressedFormat: String, CaseIterable, Sendable {
    /// Red, green, blue, a byte each, frame after frame.
    case rgb24
    /// The same and the opacity.
    case rgba
    /// YUV4MPEG2, 4:2:0, of a constant rate.
    case yuv4mpeg
}

/// What the command line of `silhouette video` asks for.
package struct VideoSettings: Sendable {
    package var inputs: [String] = []
    package var destination: String?
    package var format: UncompressedFormat?
    package var quality: Int?
    package var reading = ReadingOptions()
    package var model: String?
    package var device: Device = .automatic
    package var precision: Precision = .float32
    package var tuning: Tuning?
    package var threads: Int?
    package var modelMemory = ModelLimits.memoryByteCount
    /// What was named; `output` is what is made.
    package var namedOutput: VideoOutput?
    package var classes: ClassSelection?
    package var droppedClasses: ClassSelection?
    package var effects = EffectSettings()
    package var backgroundVideo: String?
    package var smoothing: Float?
    package var keepsHoles = false
    package var fit: Fit = .stretch
    package var tileSide: Int?
    package var isVerbose = false

    package init() {}

    /// What is made: an overlay, or a composite where there is a background for it.
    package var output: VideoOutput {
        namedOutput ?? (effects.background == nil && backgroundVideo == nil ? .overlay : .composite)
    }
}

extension Subcommand<VideoSettings> {
    /// `silhouette video`.
    package static let video = Subcommand(
        name: "video",
        abstract: "make a film of a film: its objects in colour, or cut out",
        operands: "IN -o OUT",
        introduction: """
            Finds the class of every pixel of every frame and makes a film of it, through the programs ffmpeg and ffprobe. IN is a \
            film of any kind that ffmpeg reads, numbered pictures (frame-%05d.png), a camera (/dev/video0), or - for standard \
            input. Every frame keeps its time, the film its size, turn, sound and colours.
            """,
        details: """
            OUT                 holds
            NAME.mp4 .mov .mkv  H.264 (4:4:4 where a side is odd); a cut-out ProRes 4444 in .mov, FFV1 in .mkv
            NAME.webm           VP9, with transparency for a cut-out
            NAME.gif            256 colours a frame
            NAME-%05d.png       a picture for each frame, from 1 on
            /dev/videoN         a virtual camera (v4l2loopback), which other programs use
            -                   uncompressed frames, as --format says

            OUT appears when it is whole. Ctrl-C ends it early: the frames until then become a whole film; a
            second Ctrl-C leaves none. Of a damaged film the frames that can be read are written, with a
            warning and exit code 1. Sound goes along as it is where OUT takes it, and is encoded anew where
            not; subtitles and all but the first stream of pictures are left out. In a film that changes its
            size, later frames are fitted into the first one's.

            exit code: 0 all done, 1 something could not be done, 2 the command line is wrong,
            130 ended by Ctrl-C

            examples:
              silhouette video street.mp4 -o overlay.mp4
              silhouette video me.mov -o me.webm --output cutout --classes person --start 0:10 --duration 5
              silhouette video /dev/video0 -o - --format yuv4mpeg | ffplay -
            """,
        options: [
            .text("output-file", "o", "OUT", "The film that is made (see below).", \.destination),
            .word(
                "output",
                """
                What to make of each frame.
                overlay: the frame under the colours of its classes.
                cutout: the chosen classes on transparent ground.
                composite: the chosen classes before another background (--background or --background-video).
                (default: overlay)
                """,
                \.namedOutput),
        ]
            + Option.classes(
                \.classes, \.droppedClasses, default: "all; for a cutout and a composite all but background")
            + Option.effects(\.effects) + [
                .text(
                    "background-video", nil, "FILE", "This film is behind the subject, again and again.",
                    \.backgroundVideo),
                .number(
                    "smoothing", "S", in: EffectOptions.smoothingRange,
                    """
                    How much of an edge comes from the frames before, so that it does not flicker; it follows what moves. \
                    (default: \(EffectOptions(.cutout).temporalSmoothing.shortText))
                    """,
                    \.smoothing),
                .flag(
                    "keep-holes", nil,
                    "Leave small holes in the subject and specks beside it, which else are closed and dropped.",
                    \.keepsHoles),
                .seconds("start", "Begin at this time of the film: seconds, or 1:02:03.5.", \.reading.start),
                .seconds("duration", "Take so much of the film.", \.reading.duration),
                .integer(
                    "quality", in: 0...63,
                    "Quality of H.264 (to 51; default: 18) or VP9 (to 63; default: 24): 0 is the best and largest.",
                    \.quality),
                .value(
                    "format", nil, "rgb24|rgba|yuv4mpeg",
                    "What frames on standard output look like; yuv4mpeg has a constant rate, the others no times."
                ) { settings, value throws(UsageError) in
                    guard let format = UncompressedFormat(rawValue: value) else {
                        let words = UncompressedFormat.allCases.map(\.rawValue)
                        throw UsageError("is \(words.listed(with: "or")), not '\(value)'")
                    }
                    settings.format = format
                },
                .value("input-size", nil, "WxH", "What a camera is asked for: 1280x720.") {
                    settings, value throws(UsageError) in
                    let sides = value.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
                    guard sides.count == 2, let width = sides[0], let height = sides[1], (1...65_535).contains(width),
                        (1...65_535).contains(height)
                    else { throw UsageError("needs columns and rows, as in 1280x720, not '\(value)'") }
                    settings.reading.cameraSize = (width, height)
                },
                .value(
                    "input-rate", nil, "N",
                    "Frames a second, of a camera or of numbered pictures. (default for pictures: 25)"
                ) { settings, value throws(UsageError) in
                    settings.reading.inputRate = try reading { () throws(WordError) in
                        try Double(word: value, in: 0.01...1000)
                    }
                },
                .text("model", "m", "FILE", "The model (as for segment).", \.model),
                .modelMemory(\.modelMemory),
                .device(\.device),
                .precision(\.precision),
                .tuning(\.tuning),
            ] + Self.lastOptions,
        addOperand: { settings, operand in settings.inputs.append(operand) },
        check: { settings throws(UsageError) in try settings.check() })

    private static let lastOptions: [Option<VideoSettings>] =
        Option.fit(of: "frame", \.fit, \.tileSide) + [
            .threads(\.threads),
            .integer(
                "max-pixels", in: 1...1_000_000_000,
                "Refuse films with more pixels in a frame. (default: \(ReadingOptions().maxPixels))",
                \.reading.maxPixels),
            .flag(
                "verbose", "v", "Say which model and device are used, and at the end where the time went.",
                \.isVerbose),
        ]
}

extension Option {
    /// A time of a film.
    static func seconds(
        _ name: String, _ help: String, _ member: WritableKeyPath<Settings, Double?> & Sendable
    ) -> Option {
        value(name, nil, "TIME", help) { settings, value throws(UsageError) in
            guard let seconds = filmSeconds(value) else {
                throw UsageError("needs seconds or HOURS:MINUTES:SECONDS, not '\(value)'")
            }
            settings[keyPath: member] = seconds
        }
    }
}

/// Reads `90`, `1:30` or `0:01:30.5`. Nil for anything else, and for more than a hundred days.
package func filmSeconds(_ text: String) -> Double? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 3, let last = parts.last, last.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
        var seconds = Double(last), parts.count == 1 || seconds < 60
    else { return nil }
    var unit = 60.0
    for (index, part) in parts.dropLast().reversed().enumerated() {
        guard !part.isEmpty, part.allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(part),
            count < 60 || index == parts.count - 2, count < 10_000_000
        else { return nil }
        seconds += Double(count) * unit
        unit *= 60
    }
    return seconds < 8.64e6 ? seconds : nil
}

extension VideoSettings {
    /// Checks what the options say together.
    func check() throws(UsageError) {
        guard let input = inputs.first else { throw UsageError("no film given") }
        guard inputs.count == 1 else { throw UsageError("one film at a time: '\(inputs[1])' is one too many") }
        guard !input.isEmpty else { throw UsageError("the film's name is empty: ''") }
        guard let destination else { throw UsageError("-o is missing: the film that is to be made") }
        try precision.check(on: device)
        try tuning?.check(on: device)
        try fit.check(tileSide: tileSide)
        if reading.duration == 0 { throw UsageError("--duration needs more than 0 seconds") }
        try checkEffect()
        guard destination == "-" else {
            if let format { throw UsageError("--format \(format.rawValue) goes with -o - only") }
            return
        }
        guard let format else {
            throw UsageError("-o - needs --format rgb24, rgba or yuv4mpeg")
        }
        if output.hasAlpha, format != .rgba {
            throw UsageError(
                "--format \(format.rawValue) has no transparency for --output \(output.rawValue); rgba has")
        }
    }

    private func checkEffect() throws(UsageError) {
        try checkClassLists(classes, droppedClasses)
        var effects = effects
        if backgroundVideo != nil {
            guard effects.background == nil else {
                throw UsageError("--background and --background-video exclude each other")
            }
            guard output == .composite else {
                throw UsageError("--background-video goes with --output composite, not with \(output.rawValue)")
            }
            guard effects.backgroundFit != .tile else {
                throw UsageError("--background-fit tile does not go with --background-video; cover and contain do")
            }
            effects.backgroundFit = nil
            effects.background = .plain(.color(.black), "--background-video")
        }
        try effects.check(output.rawValue)
        if smoothing != nil, output == .overlay, effects.edgeOptions == nil {
            throw UsageError("--smoothing goes with edges: cutout, composite, or an overlay with --edges")
        }
        if keepsHoles, output == .overlay, effects.edgeOptions == nil {
            throw UsageError("--keep-holes goes with edges: cutout, composite, or an overlay with --edges")
        }
    }

    /// What the renderer makes. The background's picture is read.
    func effectOptions(_ classes: [Int]?, _ labels: [String]) throws -> EffectOptions {
        var limits = ImageLimits()
        limits.maxPixels = max(limits.maxPixels, reading.maxPixels)
        let effect =
            backgroundVideo == nil
            ? try effects.effect(output.rawValue, labels: labels, limits: limits) : .composite(.color(.black))
        guard let effect else { throw UsageError("--output \(output.rawValue) is no film") }
        var options = EffectOptions(effect, classes: classes.map { ClassSelection($0) }, edges: effects.edgeOptions)
        if let smoothing { options.temporalSmoothing = smoothing }
        options.closesHoles = !keepsHoles
        return options
    }
}
