import Glibc
import Imaging
import Video

/// Where the frames of a film go, by the name that `-o` gives.
package enum FilmDestination: Equatable, Sendable {
    /// Into a film file.
    case film(String, OutputFormat)
    /// Into numbered PNG files.
    case pictures(NumberedName)
    /// To a virtual camera.
    case camera(String)
    /// To standard output.
    case standardOutput(UncompressedFormat)

    /// - Throws: `UsageError` where the name tells of no kind, or of one that does not go with the other options.
    package init(_ settings: VideoSettings) throws(UsageError) {
        let path = settings.destination ?? ""
        let (output, quality) = (settings.output, settings.quality)
        if path == "-" {
            self = .standardOutput(settings.format ?? .rgb24)
        } else if PathKind(path) == .special, path.hasPrefix("/dev/video") {
            self = .camera(path)
        } else if PathKind(path) == .absent, path.hasPrefix("/dev/video") {
            throw UsageError("-o '\(path)' does not exist; the kernel module v4l2loopback makes virtual cameras")
        } else if PathKind(path) == .folder || path.hasSuffix("/") {
            let folder = path.hasSuffix("/") ? path : path + "/"
            throw UsageError("-o '\(path)' is a folder; for a picture a frame: \(folder)frame-%05d.png")
        } else if path.lowercased().hasSuffix(".png") {
            guard let name = NumberedName(path) else {
                throw UsageError("-o '\(path)' needs a place for the frame's number: NAME-%05d.png")
            }
            self = .pictures(name)
        } else if let format = OutputFormat(path: path) {
            self = .film(path, format)
        } else {
            let endings = OutputFormat.allCases.map { "." + $0.rawValue }.joined(separator: ", ")
            throw UsageError(
                "-o '\(path)' must end in \(endings) or -%05d.png, or be a virtual camera (/dev/videoN) or -")
        }
        if output.hasAlpha {
            if case .film(_, let format) = self, !format.hasAlpha {
                let name = format.rawValue.uppercased()
                throw UsageError(
                    "\(name) has no transparency for --output \(output.rawValue); .webm, .mov and .mkv have")
            }
            if case .camera = self {
                throw UsageError("a virtual camera has no transparency for --output \(output.rawValue)")
            }
        }
        if let quality { try check(quality, output) }
    }

    /// For messages.
    var name: String {
        switch self {
        case .film(let path, _), .camera(let path): path
        case .pictures(let name): name.pattern
        case .standardOutput: "standard output"
        }
    }

    private func check(_ quality: Int, _ output: VideoOutput) throws(UsageError) {
        guard case .film(let path, let format) = self, format.standardQuality(hasAlpha: output.hasAlpha) != nil else {
            throw UsageError("--quality goes with H.264 and VP9 only, which -o does not give here")
        }
        guard quality <= 51 || format == .webm else {
            throw UsageError("--quality is 0 to 51 for '\(path)', not \(quality)")
        }
    }
}
