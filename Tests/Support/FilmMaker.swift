import Foundation
import Testing

/// The programs of ffmpeg, for tests that make films of their own or look into some.
package enum FFmpeg {
    /// Whether both programs are on the path.
    package static let isInstalled = ["ffmpeg", "ffprobe"].allSatisfy { name in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }

    /// A program that failed.
    package struct Failure: Error, CustomStringConvertible {
        /// What it complained of.
        package let description: String
    }

    /// Makes a file with ffmpeg, and gives back its path: what follows `-v error -y`, without the file's name.
    @discardableResult
    package static func make(_ path: String, _ arguments: String...) throws -> String {
        try make(path, arguments)
    }

    /// The same, of a list of arguments.
    @discardableResult
    package static func make(_ path: String, _ arguments: [String]) throws -> String {
        _ = try run("ffmpeg", ["-nostdin", "-v", "error", "-y"] + arguments + [path])
        return path
    }

    /// What ffprobe tells of the streams of a kind, one dictionary a stream.
    ///
    /// - Parameters:
    ///   - kind: `v` or `a`.
    ///   - entries: As ffprobe calls them: `width,pix_fmt`.
    package static func streams(_ path: String, _ kind: String = "v", _ entries: String) throws -> [[String: String]] {
        try table(["-select_streams", kind, "-show_entries", "stream=\(entries)", path])
    }

    /// The times of all frames, in seconds, sorted.
    package static func times(_ path: String, _ kind: String = "v") throws -> [Double] {
        try table(["-select_streams", kind, "-show_entries", "packet=pts_time", path])
            .compactMap { $0["pts_time"].flatMap(Double.init) }.sorted()
    }

    /// The frames of a film, as ffmpeg decodes them.
    ///
    /// - Parameters:
    ///   - format: `rgb24` or `rgba`.
    ///   - decoding: Options before the film, a decoder for instance.
    package static func frames(
        _ path: String, _ format: String = "rgb24", decoding: [String] = []
    ) throws -> [UInt8] {
        let exact = "scale=flags=accurate_rnd+full_chroma_int+full_chroma_inp+bicubic,format=\(format)"
        return try Array(
            run(
                "ffmpeg",
                ["-nostdin", "-v", "error"] + decoding + [
                    "-i", path, "-map", "0:v", "-vf", exact, "-fps_mode", "passthrough", "-f", "rawvideo", "-",
                ]))
    }

    /// The bytes of all packets of sound.
    package static func sound(_ path: String) throws -> [UInt8] {
        try Array(
            run("ffmpeg", ["-nostdin", "-v", "error", "-i", path, "-map", "0:a", "-c", "copy", "-f", "data", "-"]))
    }

    private static func table(_ arguments: [String]) throws -> [[String: String]] {
        let text = String(
            decoding: try run("ffprobe", ["-v", "error", "-of", "compact=p=0"] + arguments), as: UTF8.self)
        return text.split(separator: "\n").map { line in
            Dictionary(
                line.split(separator: "|").compactMap { field in
                    let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
                    return parts.count == 2 ? (parts[0], parts[1]) : nil
                }, uniquingKeysWith: { first, _ in first })
        }
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Data {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("silhouette-\(UUID().uuidString)")
        try Data().write(to: scratch)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let errors = Pipe()
        process.standardInput = FileHandle.nullDevice
        // A file, not a pipe: nobody has to read while the program runs.
        process.standardOutput = try FileHandle(forWritingTo: scratch)
        process.standardError = errors
        try process.run()
        let complaint = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description:
                    "\(program) \(arguments.joined(separator: " ")): \(String(decoding: complaint, as: UTF8.self))")
        }
        return try Data(contentsOf: scratch)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, with the reason, where the programs of ffmpeg are absent.
    package static var needsFFmpeg: Self {
        .enabled(if: FFmpeg.isInstalled, "the programs ffmpeg and ffprobe are not installed")
    }
}
