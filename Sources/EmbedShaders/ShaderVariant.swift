import Foundation

/// One way to compile a shader.
struct ShaderVariant: Sendable {
    /// Path of the shader.
    var path: String
    /// The shader's name and the values of its macros: `pointwise FLOAT16=0 READ_PATH=2 TILE=4x2`.
    var name: String
    /// The macros, as the compiler's arguments.
    var macros: [String] = []

    /// Every combination that a shader's text asks for.
    static func all(ofShaderAt path: String) throws(ShaderError) -> [ShaderVariant] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ShaderError(lines: ["\(path): error: cannot be read"])
        }
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        var variants = [ShaderVariant(path: path, name: name)]
        let keyword = "#pragma variants"
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where line.hasPrefix(keyword) {
            for axis in line.dropFirst(keyword.count).split(whereSeparator: \.isWhitespace) {
                let parts = axis.split(separator: "=", omittingEmptySubsequences: false)
                let values = parts.last?.split(separator: ",", omittingEmptySubsequences: false) ?? []
                guard parts.count == 2, !parts[0].isEmpty, values.allSatisfy({ !$0.isEmpty }) else {
                    throw ShaderError(lines: ["\(path):\(index + 1): error: '\(axis)' is no NAME=VALUE,VALUE"])
                }
                variants = variants.flatMap { variant in values.map { variant.adding(parts[0], $0) } }
            }
        }
        return variants
    }

    private func adding(_ macro: Substring, _ value: Substring) -> ShaderVariant {
        let sides = value.split(separator: "x")
        let definitions =
            sides.count == 2 ? ["\(macro)_X=\(sides[0])", "\(macro)_Y=\(sides[1])"] : ["\(macro)=\(value)"]
        return ShaderVariant(
            path: path, name: "\(name) \(macro)=\(value)", macros: macros + definitions.map { "-D\($0)" })
    }
}
