/// FNV-1a, 64 bits: the same in every process, unlike `Hasher`. Against accidents, not against enemies.
package struct StableHash: Sendable {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    package mutating func add(_ text: String) { add(text.utf8) }

    package var value: UInt64 { state }

    /// 16 hexadecimal digits.
    package var digits: String {
        let digits = String(state, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
