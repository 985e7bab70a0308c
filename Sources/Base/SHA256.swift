/// The SHA-256 of bytes: FIPS 180-4.
package enum SHA256 {
    /// The digest in 64 lower-case hexadecimal digits.
    package static func digits(of bytes: UnsafeRawBufferPointer) -> String {
        var state: State = initial
        let whole = bytes.count / 64
        for block in 0..<whole {
            compress(UnsafeRawBufferPointer(rebasing: bytes[block * 64..<block * 64 + 64]), &state)
        }
        // One bit after the last byte, zeros, the number of bits in the last 8 bytes of a block.
        var tail = [UInt8](bytes[(whole * 64)...])
        tail.append(0x80)
        while tail.count % 64 != 56 { tail.append(0) }
        let bitCount = UInt64(bytes.count) &* 8
        for shift in (0..<8).reversed() { tail.append(UInt8(truncatingIfNeeded: bitCount >> (8 * UInt64(shift)))) }
        tail.withUnsafeBytes { tail in
            for start in stride(from: 0, to: tail.count, by: 64) {
                compress(UnsafeRawBufferPointer(rebasing: tail[start..<start + 64]), &state)
            }
        }
        return [state.a, state.b, state.c, state.d, state.e, state.f, state.g, state.h].map { word in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 8 - text.count) + text
        }.joined()
    }

    private struct State {
        var a, b, c, d, e, f, g, h: UInt32
    }

    // The first 32 bits of the fractional parts of the square roots of the first 8 primes, and of the cube roots of the first 64.
    private static let initial = State(
        a: 0x6a09_e667, b: 0xbb67_ae85, c: 0x3c6e_f372, d: 0xa54f_f53a, e: 0x510e_527f, f: 0x9b05_688c, g: 0x1f83_d9ab,
        h: 0x5be0_cd19)
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    @inline(__always)
    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static func compress(_ block: UnsafeRawBufferPointer, _ state: inout State) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            for index in 0..<16 {
                words[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
                let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
                words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
            }
            var s = state
            constants.withUnsafeBufferPointer { constants in
                for index in 0..<64 {
                    let sum1 = rotated(s.e, 6) ^ rotated(s.e, 11) ^ rotated(s.e, 25)
                    let choice = s.e & s.f ^ ~s.e & s.g
                    let first = s.h &+ sum1 &+ choice &+ constants[index] &+ words[index]
                    let sum0 = rotated(s.a, 2) ^ rotated(s.a, 13) ^ rotated(s.a, 22)
                    let second = sum0 &+ (s.a & s.b ^ s.a & s.c ^ s.b & s.c)
                    s = State(
                        a: first &+ second, b: s.a, c: s.b, d: s.c, e: s.d &+ first, f: s.e, g: s.f, h: s.g)
                }
            }
            state = State(
                a: state.a &+ s.a, b: state.b &+ s.b, c: state.c &+ s.c, d: state.d &+ s.d, e: state.e &+ s.e,
                f: state.f &+ s.f, g: state.g &+ s.g, h: state.h &+ s.h)
        }
    }
}
