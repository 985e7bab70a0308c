import Foundation
import Base

// Compiles GLSL compute shaders to SPIR-V and writes them as one Swift file: what the build plug-in CompileShaders runs.
//
//     EmbedShaders GLSLANG OUTPUT.swift INCLUDE-FOLDER SHADER.comp...
//
// A shader may come in variants, named in lines of its own that the GLSL compiler ignores:
//
//     #pragma variants FLOAT16=0,1 TILE=4x2,2x2
//
// Each combination is compiled with these macros defined; a value AxB defines NAME_X and NAME_Y.

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count > 4 else { fail("usage: EmbedShaders GLSLANG OUTPUT.swift INCLUDE-FOLDER SHADER.comp...") }
let compiler = Compiler(path: arguments[1], includeFolder: arguments[3])
let output = arguments[2]

var variants: [ShaderVariant] = []
do throws(ShaderError) {
    for path in arguments[4...] { variants += try ShaderVariant.all(ofShaderAt: path) }
} catch {
    fail(error.description)
}

// The build runs this program more often than shaders change: whenever the package is planned anew, as after a change of any
// environment variable. A file that stays as it is spares the targets that contain it, too.
let heading = "// Made from the shaders when the package is built. Inputs: \(Inputs(compiler, arguments[4...]).digest)"
if let old = try? String(contentsOfFile: output, encoding: .utf8), old.hasPrefix(heading + "\n") { exit(0) }

let scratch = URL(fileURLWithPath: output + ".spv")
do { try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true) } catch {
    fail("\(scratch.path()): error: \(error.localizedDescription)")
}
let jobs = variants
let results = Locked([Result<Data, ShaderError>?](repeating: nil, count: jobs.count))
DispatchQueue.concurrentPerform(iterations: jobs.count) { index in
    let file = scratch.appending(path: "\(index).spv").path()
    let result = Result { () throws(ShaderError) in try compiler.compile(jobs[index], to: file) }
    results.withLock { $0[index] = result }
}
try? FileManager.default.removeItem(at: scratch)

// All variants of a shader stumble over the same mistake, which is told once.
var entries: [String] = []
var problems: [String] = []
for (variant, result) in zip(jobs, results.withLock(\.self)) {
    switch result {
    case .success(let code): entries.append("    body(\"\(variant.name)\", \"\(code.base64EncodedString())\")")
    case .failure(let error): problems += error.lines.filter { !problems.contains($0) }
    case nil: problems.append("\(variant.path): error: was not compiled")
    }
}
guard problems.isEmpty else { fail(problems.joined(separator: "\n")) }

let lines =
    [
        heading, "",
        "/// Calls `body` with the name and variant of each shader, and its SPIR-V in base64.",
        "func forEachEmbeddedShader(_ body: (StaticString, StaticString) -> Void) {",
    ] + entries + ["}", ""]
do { try lines.joined(separator: "\n").write(toFile: output, atomically: true, encoding: .utf8) } catch {
    fail("\(output): error: cannot be written: \(error.localizedDescription)")
}
