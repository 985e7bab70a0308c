import CHash

/// The SHA-256 of bytes: FIPS 180-4.
package enum SHA256 {
    /// The digest in 64 lower-case hexadecimal digits.
    package static func digits(of bytes: UnsafeRawBufferPointer) -> String {
        // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
        var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        let whole = bytes.count / 64
        if let start = bytes.baseAddress { chash_sha256(&state, start, whole) }
        // One bit after the last byte, zeros, the number of bits in the last 8 bytes of a block.
        var tail = [UInt8](bytes[(whole * 64)...])
        tail.append(0x80)
        while tail.count % 64 != 56 { tail.append(0) }
        withUnsafeBytes(of: (UInt64(bytes.count) &* 8).bigEndian) { tail.append(contentsOf: $0) }
        chash_sha256(&state, tail, tail.count / 64)
        return state.map { word in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 8 - text.count) + text
        }.joined()
    }
}
