import Foundation

/// Everything that the output depends on.
struct Inputs {
    /// The same for the same shaders, included files, programs and paths.
    let digest: String

    init(_ compiler: Compiler, _ shaders: some Sequence<String>) {
        let included = ((try? FileManager.default.contentsOfDirectory(atPath: compiler.includeFolder)) ?? []).sorted()
        let files = shaders + included.map { "\(compiler.includeFolder)/\($0)" } + ["/proc/self/exe", compiler.path]
        // FNV-1a, 64 bits.
        var state: UInt64 = 0xcbf2_9ce4_8422_2325
        for path in files {
            let content = FileManager.default.contents(atPath: path) ?? Data()
            for bytes in [Data("\(path) \(content.count) ".utf8), content] {
                for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
            }
        }
        digest = String(state, radix: 16)
    }
}
