import Foundation
import Testing

/// The project's Python environment, in which converters and other runtimes run.
///
/// `SILHOUETTE_PYTHON` names another interpreter.
package enum PythonEnvironment {
    /// The interpreter.
    static let interpreter =
        ProcessInfo.processInfo.environment["SILHOUETTE_PYTHON"] ?? Checkout.path(".venv/bin/python")

    /// Why nothing can be converted; nil where it can.
    static var absence: String? {
        FileManager.default.isExecutableFile(atPath: interpreter)
            ? nil : "no Python environment at \(interpreter) (scripts/test makes it; or set SILHOUETTE_PYTHON)"
    }

    /// Runs a program and waits for it.
    ///
    /// - Throws: `ProgramError` with what the program wrote when it fails.
    static func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        // Read before waiting: a full pipe would stop the program.
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ProgramError(
                command: ([program] + arguments).joined(separator: " "), status: process.terminationStatus,
                output: String(decoding: output, as: UTF8.self))
        }
    }
}

/// A program that failed.
package struct ProgramError: Error, CustomStringConvertible {
    let command: String
    let status: Int32
    let output: String

    /// The command, its exit status and what it wrote.
    package var description: String { "\(command): exit status \(status)\n\(output)" }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, with the reason, where the project's Python environment is absent.
    package static var needsPython: Self {
        let absence = PythonEnvironment.absence
        return .enabled(if: absence == nil, "\(absence ?? "")")
    }
}
