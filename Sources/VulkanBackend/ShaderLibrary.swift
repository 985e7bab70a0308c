import Base
import VulkanCompute

/// The shaders of the project, compiled when the package was built.
package struct ShaderLibrary: Sendable {
    /// SPIR-V in base64, by name and variant: `pointwise FLOAT16=0 READ_PATH=2 TILE=4x2`.
    private let texts: [String: StaticString]
    /// Shaders that are not the project's.
    private var replacements: [String: [UInt32]] = [:]

    /// The shaders of the project.
    package static let shared = ShaderLibrary()

    private init() {
        var texts: [String: StaticString] = [:]
        forEachEmbeddedShader { name, text in texts["\(name)"] = text }
        self.texts = texts
    }

    /// Names of all shaders and variants.
    package var names: [String] { texts.keys.sorted() }

    /// The words of a shader. It is part of the program, so one that is missing is a mistake of ours.
    package func code(_ name: String) -> [UInt32] {
        if let replacement = replacements[name] { return replacement }
        guard let text = texts[name] else { preconditionFailure("there is no shader \(name)") }
        return text.withUTF8Buffer(decodeBase64)
    }

    /// Whether they are the project's, all of them.
    var isBuiltIn: Bool { replacements.isEmpty }

    /// The same for the same shaders.
    package var digest: String {
        guard !isBuiltIn else { return Self.builtInDigest }
        var hash = FNV1a()
        hash.add(Self.builtInDigest)
        for (name, code) in replacements.sorted(by: { $0.key < $1.key }) {
            hash.add(name)
            code.withUnsafeBytes { hash.add($0) }
        }
        return hash.digits
    }

    private static let builtInDigest: String = {
        var hash = FNV1a()
        for (name, text) in shared.texts.sorted(by: { $0.key < $1.key }) {
            hash.add(name)
            text.withUTF8Buffer { hash.add(UnsafeRawBufferPointer($0)) }
        }
        return hash.digits
    }()

    /// The same shaders but for one: for tests that must see a broken shader be found.
    package func replacing(_ name: String, with code: [UInt32]) -> ShaderLibrary {
        var library = self
        library.replacements[name] = code
        return library
    }
}

/// 32-bit words from base64. (Foundation's decoder wants a copy of the text first.)
private func decodeBase64(_ text: UnsafeBufferPointer<UInt8>) -> [UInt32] {
    func value(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
    var words: [UInt32] = []
    words.reserveCapacity(text.count * 3 / 16)
    var (bits, bitCount, word, byteCount): (UInt32, Int, UInt32, Int) = (0, 0, 0, 0)
    for character in text {
        guard let value = value(character) else { break }
        bits = bits << 6 | value
        bitCount += 6
        guard bitCount >= 8 else { continue }
        bitCount -= 8
        word |= (bits >> UInt32(bitCount) & 0xff) << UInt32(8 * byteCount)
        byteCount += 1
        if byteCount == 4 {
            words.append(word)
            (word, byteCount) = (0, 0)
        }
    }
    return words
}
