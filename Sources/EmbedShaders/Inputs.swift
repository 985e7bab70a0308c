import Base
import Foundation

/// Everything that the output depends on.
struct Inputs {
    /// The same for the same shaders, included files, programs and paths.
    let digest: String

    init(_ compiler: Compiler, _ shaders: some Sequence<String>) {
        let included = ((try? FileManager.default.contentsOfDirectory(atPath: compiler.includeFolder)) ?? []).sorted()
        let files = shaders + included.map { "\(compiler.includeFolder)/\($0)" } + ["/proc/self/exe", compiler.path]
        var hash = FNV1a()
        for path in files {
            let content = FileManager.default.contents(atPath: path) ?? Data()
            hash.add("\(path) \(content.count) ")
            content.withUnsafeBytes { hash.add($0) }
        }
        digest = hash.digits
    }
}
