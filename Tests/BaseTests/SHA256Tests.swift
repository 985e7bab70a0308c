import Base
import CHash
import Testing

@Suite("SHA-256")
struct SHA256Tests {
    private func digits(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { SHA256.digits(of: $0) } }

    @Test(
        "is that of the standard's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func examples(text: String, digits: String) { #expect(self.digits(Array(text.utf8)) == digits) }

    @Test("is right at every length around a block, and for a million bytes")
    func lengths() {
        #expect(
            digits([UInt8](repeating: 97, count: 1_000_000))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        // Of all prefixes of 0, 1, ... 130, one after another: as Python's hashlib gives it.
        let all = (0...130).map { count in digits((0..<count).map { UInt8($0) }) }.joined()
        #expect(digits(Array(all.utf8)) == "287ec38b0ef48cad9a69255fec0a3dd90bd752a394316d26a81b6c9b71e29a55")
    }

    @Test("is the same by the processor's instructions and in plain C")
    func instructions() {
        let bytes = (0..<64 * 37).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 3) }
        for blocks in [0, 1, 2, 3, 37] {
            var own = (1...8).map { UInt32($0) &* 0x9e37_79b9 }
            var plain = own
            chash_sha256(&own, bytes, blocks)
            chash_sha256_portable(&plain, bytes, blocks)
            #expect(own == plain)
        }
    }
}
