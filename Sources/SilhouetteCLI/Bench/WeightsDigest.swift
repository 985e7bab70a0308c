import ModelGraph

extension Graph {
    /// 16 hexadecimal digits that are others where any weight is: against mix-ups, not against enemies.
    package var weightsDigest: String {
        // FNV-1a, by whole values.
        var state: UInt64 = 0xcbf2_9ce4_8422_2325
        for convolution in layers.compactMap(\.convolution) {
            for values in [convolution.weights.floats(), convolution.bias?.floats() ?? []] {
                for value in values { state = (state ^ UInt64(value.bitPattern)) &* 0x100_0000_01b3 }
            }
        }
        let digits = String(state, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
