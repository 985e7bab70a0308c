import Foundation

/// glslangValidator.
struct Compiler: Sendable {
    /// Path of the program.
    var path: String
    /// Where `#include` looks.
    var includeFolder: String

    /// Compiles one variant and gives its SPIR-V.
    func compile(_ variant: ShaderVariant, to output: String) throws(ShaderError) -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments =
            ["-V", "--target-env", "vulkan1.1", "-g0", "-I\(includeFolder)", "-o", output] + variant.macros
            + [variant.path]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        do { try process.run() } catch {
            throw ShaderError(lines: [
                "error: the shaders cannot be compiled: \(path) cannot be run; install it with: sudo apt-get install glslang-tools"
            ])
        }
        let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let code = FileManager.default.contents(atPath: output) else {
            throw ShaderError(compilerOutput: said, variant)
        }
        return code
    }
}

/// Why shaders could not be compiled.
struct ShaderError: Error, CustomStringConvertible {
    /// In the form that editors and SwiftPM understand: `FILE:LINE: error: text`.
    var lines: [String]

    var description: String { lines.joined(separator: "\n") }
}

extension ShaderError {
    /// From the compiler's `ERROR: FILE:LINE: text`.
    init(compilerOutput said: String, _ variant: ShaderVariant) {
        lines = said.split(separator: "\n").compactMap { line -> String? in
            // The last two lines only say that there were errors before.
            guard line.hasPrefix("ERROR: "), !line.contains("compilation errors"),
                !line.contains("compilation terminated")
            else { return nil }
            let rest = line.dropFirst("ERROR: ".count)
            let parts = rest.split(separator: ":", maxSplits: 2)
            guard parts.count == 3, Int(parts[1]) != nil else { return "\(variant.path): error: \(rest)" }
            return "\(parts[0]):\(parts[1]): error:\(parts[2])"
        }
        if lines.isEmpty { lines = ["\(variant.path): error: \(variant.name): \(said)"] }
    }
}
