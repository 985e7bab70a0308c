/// Compiled shaders.
package enum SPIRV {
    /// The same code with every sum of two floats turned into their difference, every fused product's third term into its first,
    /// and every "or" of bits, by which bytes are packed, into an "and": what a slip of the hand in a shader would be.
    package static func breaking(_ code: [UInt32]) -> [UInt32] {
        let (add, subtract, extended, fma): (UInt32, UInt32, UInt32, UInt32) = (129, 131, 12, 50)
        let (or, and): (UInt32, UInt32) = (197, 199)
        var code = code
        var place = 5
        while place < code.count {
            let (length, operation) = (Int(code[place] >> 16), code[place] & 0xffff)
            if operation == add { code[place] = code[place] & 0xffff_0000 | subtract }
            if operation == or { code[place] = code[place] & 0xffff_0000 | and }
            if operation == extended, code[place + 4] == fma { code[place + 7] = code[place + 5] }
            place += max(1, length)
        }
        return code
    }
}
