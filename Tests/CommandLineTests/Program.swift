import Foundation
import TestSupport

/// The built program, run as a user runs it.
struct Program {
    /// Beside the test bundle that this code runs in.
    static let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("silhouette").path

    /// The small generated model that every checkout has.
    static let model = Checkout.path("Tests/Fixtures/mini.safetensors")

    /// A picture that every checkout has, 65x65.
    static let picture = Checkout.path("Tests/Fixtures/mini.input.png")

    /// What a run left behind.
    struct Outcome {
        var exitCode: Int32
        var output: Data
        var errors: String

        /// Standard output as text.
        var text: String { String(decoding: output, as: UTF8.self) }
        /// Lines on standard error.
        var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
    }

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - folder: The current folder.
    ///   - environment: Variables besides those that every run has; the home folder is `folder`, and no model is set.
    ///   - input: What standard input gives.
    static func run(
        _ arguments: [String], in folder: String, environment: [String: String] = [:], input: Data = Data()
    ) throws -> Outcome {
        try run(executable: path, arguments, in: folder, environment: environment, input: input)
    }

    /// Runs any program to its end.
    static func run(
        executable: String, _ arguments: [String], in folder: String, environment: [String: String] = [:],
        input: Data = Data()
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        var variables = ProcessInfo.processInfo.environment
        for name in ["SILHOUETTE_MODEL", "XDG_CACHE_HOME"] { variables[name] = nil }
        variables["HOME"] = folder
        process.environment = variables.merging(environment) { $1 }
        // Files, not pipes: nobody has to read while the program runs.
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("silhouette-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let files = ["in", "out", "err"].map { scratch.appendingPathComponent($0) }
        try input.write(to: files[0])
        for file in files[1...] { try Data().write(to: file) }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        return Outcome(
            exitCode: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            output: try Data(contentsOf: files[1]),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }
}
