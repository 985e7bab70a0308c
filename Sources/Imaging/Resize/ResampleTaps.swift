/// Which source positions make up each target position along one axis, and with what weights.
///
/// Pillow's BILINEAR, number for number: a triangle filter with half-pixel centres, as wide as the shrinking asks for
/// (antialiasing), two source positions when enlarging; weights in double precision, normalised, then rounded to
/// 22-bit fixed point. Source: Pillow, `src/libImaging/Resample.c`, `precompute_coeffs` and `normalize_coeffs_8bpc`.
package struct ResampleTaps {
    /// Bits behind the binary point of a weight: 32 less 8 for the pixel and 2 for safety.
    package static let precision: UInt64 = 22

    /// For each target position the first source position.
    package let starts: [Int]
    /// For each target position the number of source positions, at least 1.
    package let counts: [Int]
    /// `stride` weights for each target position, none negative, zero behind its count.
    package let weights: [UInt64]
    /// The largest count.
    package let stride: Int

    /// Creates the taps from `source` to `target` positions, both at least 1.
    package init(from source: Int, to target: Int) {
        let scale = Double(source) / Double(target)
        let filterScale = max(scale, 1)
        let support = filterScale  // the triangle's half width, 1, widened
        let inverse = 1 / filterScale
        let capacity = Int(support.rounded(.up)) * 2 + 1

        var starts: [Int] = []
        var counts: [Int] = []
        var rows: [[UInt64]] = []
        starts.reserveCapacity(target)
        counts.reserveCapacity(target)
        rows.reserveCapacity(target)
        var exact = [Double](repeating: 0, count: capacity)
        for position in 0..<target {
            let center = (Double(position) + 0.5) * scale
            let first = max(Int(center - support + 0.5), 0)
            let count = min(Int(center + support + 0.5), source) - first
            var sum = 0.0
            for tap in 0..<count {
                let distance = abs((Double(tap + first) - center + 0.5) * inverse)
                exact[tap] = distance < 1 ? 1 - distance : 0
                sum += exact[tap]
            }
            starts.append(first)
            counts.append(count)
            rows.append(
                (0..<count).map { tap in
                    let weight = sum != 0 ? exact[tap] / sum : exact[tap]
                    return UInt64(0.5 + weight * Double(1 << ResampleTaps.precision))
                })
        }
        let widest = counts.max() ?? 1
        self.starts = starts
        self.counts = counts
        self.stride = widest
        self.weights = rows.flatMap { $0 + [UInt64](repeating: 0, count: widest - $0.count) }
    }

    /// Calls `body` with the weights of one target position.
    @inline(__always)
    func withWeights(at position: Int, _ body: (UnsafePointer<UInt64>) -> Void) {
        weights.withUnsafeBufferPointer { body($0.baseAddress! + position * stride) }
    }
}
