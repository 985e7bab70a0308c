import Foundation

// Compiles GLSL compute shaders to SPIR-V and writes them as one Swift file: what the build plug-in CompileShaders runs.
//
//     EmbedShaders GLSLANG OUTPUT.swift INCLUDE-FOLDER SHADER.comp...
//
// A shader may come in variants, named in a line of its own that the GLSL compiler ignores:
//
//     #pragma variants FLOAT16=0,1 TILE=4x2,2x2
//
// Each combination is compiled with these macros defined; a value AxB defines NAME_X and NAME_Y.

struct Variant {
    var name: String
    var macros: [String]
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

/// Every combination that the shader's text asks for.
func variants(of text: String, shader: String) -> [Variant] {
    var result = [Variant(name: shader, macros: [])]
    for line in text.split(separator: "\n") where line.hasPrefix("#pragma variants ") {
        for axis in line.dropFirst("#pragma variants ".count).split(separator: " ") {
            let parts = axis.split(separator: "=")
            guard parts.count == 2 else { fail("\(shader): error: '\(axis)' is no NAME=VALUE,VALUE") }
            let values = parts[1].split(separator: ",")
            result = result.flatMap { variant in
                values.map { value in
                    var next = variant
                    next.name += " \(parts[0])=\(value)"
                    let sides = value.split(separator: "x")
                    next.macros +=
                        sides.count == 2
                        ? ["-D\(parts[0])_X=\(sides[0])", "-D\(parts[0])_Y=\(sides[1])"] : ["-D\(parts[0])=\(value)"]
                    return next
                }
            }
        }
    }
    return result
}

/// Compiles one variant; gives the SPIR-V, or what the compiler said.
func compile(_ variant: Variant, path: String, compiler: String, include: String, to output: String) -> (Data?, String)
{
    let process = Process()
    process.executableURL = URL(fileURLWithPath: compiler)
    process.arguments =
        ["-V", "--target-env", "vulkan1.1", "-g0", "-I\(include)", "-o", output] + variant.macros + [path]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    do { try process.run() } catch {
        fail("error: \(compiler) cannot be run: install glslang-tools (\(error.localizedDescription))")
    }
    let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return (nil, said) }
    return (FileManager.default.contents(atPath: output), said)
}

/// The compiler's `ERROR: FILE:LINE: text`, as `FILE:LINE: error: text`, which editors and SwiftPM understand.
func diagnostics(_ said: String) -> String {
    said.split(separator: "\n").compactMap { line -> String? in
        guard line.hasPrefix("ERROR: "), !line.contains("compilation errors") else { return nil }
        let rest = line.dropFirst("ERROR: ".count)
        let parts = rest.split(separator: ":", maxSplits: 2)
        guard parts.count == 3, Int(parts[1]) != nil else { return "error: \(rest)" }
        return "\(parts[0]):\(parts[1]): error:\(parts[2])"
    }.joined(separator: "\n")
}

let arguments = CommandLine.arguments
guard arguments.count > 4 else { fail("usage: EmbedShaders GLSLANG OUTPUT.swift INCLUDE-FOLDER SHADER.comp...") }
let (compiler, output, include) = (arguments[1], arguments[2], arguments[3])

var entries: [String] = []
for path in arguments[4...] {
    let shader = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { fail("\(path): error: cannot be read") }
    for variant in variants(of: text, shader: shader) {
        let (code, said) = compile(variant, path: path, compiler: compiler, include: include, to: output + ".spv")
        guard let code else { fail(diagnostics(said).isEmpty ? said : diagnostics(said)) }
        entries.append("    body(\"\(variant.name)\", \"\(code.base64EncodedString())\")")
    }
}
try? FileManager.default.removeItem(atPath: output + ".spv")

let lines =
    [
        "// Made from Shaders/ when the package is built.", "",
        "/// Calls `body` with the name and variant of each shader, and its SPIR-V in base64.",
        "func forEachEmbeddedShader(_ body: (StaticString, StaticString) -> Void) {",
    ] + entries + ["}", ""]
do { try lines.joined(separator: "\n").write(toFile: output, atomically: true, encoding: .utf8) } catch {
    fail("\(output): error: cannot be written: \(error.localizedDescription)")
}
