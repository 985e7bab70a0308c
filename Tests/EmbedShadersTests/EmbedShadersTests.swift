import Foundation
import TestSupport
import Testing

/// The compiler that the build uses; nil where there is none.
private let glslang: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
    .map { "\($0)/glslangValidator" }.first(where: FileManager.default.isExecutableFile(atPath:))

@Suite("EmbedShaders", .enabled(if: glslang != nil, "there is no glslangValidator"))
struct EmbedShadersTests {
    /// As the build has made it for the plug-in, beside the test bundle that this code runs in.
    private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("EmbedShaders-tool")

    private struct Outcome {
        var exitCode: Int32
        var errors: [String]
        var output: String?
    }

    /// Runs the program on shaders in a folder; `output` is the Swift file that it made.
    private func embed(
        _ shaders: [String: String], include: [String: String] = [:], in folder: String, compiler: String? = nil
    ) throws -> Outcome {
        for (name, text) in shaders { try makeFile("\(folder)/\(name)", Array(text.utf8)) }
        for (name, text) in include { try makeFile("\(folder)/include/\(name)", Array(text.utf8)) }
        let process = Process()
        process.executableURL = Self.program
        let output = "\(folder)/Embedded.swift"
        process.arguments =
            [compiler ?? glslang ?? "", output, "\(folder)/include"] + shaders.keys.sorted().map { "\(folder)/\($0)" }
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Outcome(
            exitCode: process.terminationStatus, errors: said.split(separator: "\n").map(String.init),
            output: try? String(contentsOfFile: output, encoding: .utf8))
    }

    private let good = """
        #version 450
        #pragma variants SIGN=0,1 TILE=4x2,1x1
        layout(local_size_x = 1) in;
        layout(set = 0, binding = 0, std430) buffer Values { float values[]; };
        void main() { values[0] = float(TILE_X * TILE_Y) * (SIGN == 1 ? -1.0 : 1.0); }
        """

    @Test("Each combination of a shader's variants is embedded under its name")
    func variants() throws {
        try withScratchFolder { folder in
            let outcome = try embed(["good.comp": good], in: folder)
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
            let text = try #require(outcome.output)
            for sign in [0, 1] {
                for tile in ["4x2", "1x1"] { #expect(text.contains("body(\"good SIGN=\(sign) TILE=\(tile)\", \"")) }
            }
            #expect(text.split(separator: "\n").count { $0.contains("body(\"") } == 4)
            // Nothing but the output and what was there.
            #expect(try fileNames(in: folder) == ["Embedded.swift", "good.comp"])
        }
    }

    @Test("Shaders that have not changed leave the file as it is; one that has, or an included file, makes it anew")
    func rebuilding() throws {
        try withScratchFolder { folder in
            let text = good.replacing(
                "layout(local",
                with: "#extension GL_GOOGLE_include_directive : require\n#include \"part.glsl\"\nlayout(local"
            ).replacing("float(TILE_X", with: "part(TILE_X")
            let part = "float part(int x) { return float(x); }\n"
            func fileNumber() throws -> Int? {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/Embedded.swift")
                return attributes[.systemFileNumber] as? Int
            }
            let first = try embed(["main.comp": text], include: ["part.glsl": part], in: folder)
            #expect(first.exitCode == 0)
            let number = try fileNumber()
            // Written anew it would be another file of the same name.
            #expect(try embed(["main.comp": text], include: ["part.glsl": part], in: folder).output == first.output)
            #expect(try fileNumber() == number)
            let second = try embed(
                ["main.comp": text], include: ["part.glsl": part.replacing("float(x)", with: "float(x + 1)")],
                in: folder)
            #expect(second.exitCode == 0)
            #expect(second.output != first.output)
        }
    }

    @Test("A mistake is told once, with file and line, and nothing is written")
    func mistake() throws {
        try withScratchFolder { folder in
            let broken = good.replacing("float(TILE_X", with: "float(undeclared * TILE_X")
            let outcome = try embed(["broken.comp": broken, "good.comp": good], in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.output == nil)
            #expect(
                outcome.errors.contains {
                    $0.hasPrefix("\(folder)/broken.comp:5: error: ") && $0.contains("undeclared")
                })
            #expect(Set(outcome.errors).count == outcome.errors.count)
            #expect(try fileNames(in: folder) == ["broken.comp", "good.comp"])
        }
    }

    @Test("A mistake in an included file is told with that file's name and line")
    func includedMistake() throws {
        try withScratchFolder { folder in
            let text = good.replacing(
                "layout(local",
                with: "#extension GL_GOOGLE_include_directive : require\n#include \"part.glsl\"\nlayout(local")
            let outcome = try embed(
                ["main.comp": text], include: ["part.glsl": "float f() {\n    return g;\n}\n"], in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors.contains { $0.hasPrefix("\(folder)/include/part.glsl:2: error: ") })
        }
    }

    @Test("A list of variants that is none is told with its line", arguments: ["SIGN", "SIGN=", "=1", "SIGN=1,,2"])
    func wrongVariants(axis: String) throws {
        try withScratchFolder { folder in
            let outcome = try embed(["a.comp": "#version 450\n#pragma variants \(axis)\n"], in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors == ["\(folder)/a.comp:2: error: '\(axis)' is no NAME=VALUE,VALUE"])
        }
    }

    @Test("Without a compiler one line says what to install; a shader that is not there is named")
    func absences() throws {
        try withScratchFolder { folder in
            let outcome = try embed(["good.comp": good], in: folder, compiler: "\(folder)/glslangValidator")
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors.count == 1 && outcome.errors[0].contains("apt-get install glslang-tools"))
        }
        try withScratchFolder { folder in
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/gone.comp", withDestinationPath: "nowhere")
            let outcome = try embed([:], in: folder)
            #expect(outcome.exitCode == 1 && outcome.errors.count == 1)
        }
    }
}
