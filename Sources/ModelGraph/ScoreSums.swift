/// How rows (or columns) of scores become rows (or columns) of a mask: several bilinear resizes in a row, as one weighted sum.
///
/// Two resizes, one after the other, are again a sum over a few neighbours, with weights that are products of theirs. A mask
/// at a picture's size therefore comes straight from the small map of scores: 33 columns of scores to 640 columns of a
/// picture, by way of the model's 257 that never exist.
public struct ScoreSums: Sendable {
    /// What one row or column of a mask is made of: neighbours, each with its weight; the weights add up to 1.
    public struct Sum: Hashable, Sendable {
        /// The first row or column of the scores.
        public let first: Int
        /// Weights of that one and of those that follow it.
        public let weights: [Float]

        /// The rows or columns that the weights belong to.
        public var range: Range<Int> { first..<first + weights.count }
    }

    /// The rows or columns of the mask that are made of anything: all, or those of a region.
    public let seen: Range<Int>
    /// A sum for each of those.
    public let sums: [Sum]

    /// Composes the resizes of one axis.
    ///
    /// - Parameters:
    ///   - side: The axis.
    ///   - source: Size of the scores.
    ///   - resizes: First to last; none where scores are taken as they are.
    ///   - span: What part of their result is shown where. Nil: the whole, everywhere.
    ///   - target: Size of the mask.
    public init(
        _ side: KeyPath<Extent, Int>, from source: Extent, by resizes: [ScoreHead.Resize],
        showing span: ScoreRegion.Span?, to target: Extent
    ) {
        let lengths = [source[keyPath: side]] + resizes.map { $0.extent[keyPath: side] }
        var taps = zip(resizes, zip(lengths, lengths.dropFirst())).map { resize, length in
            resize.convention.taps(from: length.0, to: length.1)
        }
        if let span { taps.append(span.taps(length: lengths[lengths.count - 1])) }
        seen = span?.target ?? 0..<target[keyPath: side]
        precondition(seen.lowerBound >= 0 && seen.upperBound <= target[keyPath: side], "a region outside the mask")
        var weighted: [[(index: Int, weight: Double)]] = (0..<seen.count).map { [($0, 1)] }
        for taps in taps.reversed() {
            weighted = weighted.map { sum in
                var inner: [Int: Double] = [:]
                for (index, weight) in sum {
                    let tap = taps[index]
                    inner[tap.first, default: 0] += weight * (1 - tap.share)
                    inner[tap.second, default: 0] += weight * tap.share
                }
                return inner.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            }
        }
        sums = weighted.map { sum in
            let first = sum[0].index
            var weights = [Float](repeating: 0, count: sum[sum.count - 1].index + 1 - first)
            for (index, weight) in sum { weights[index - first] = Float(weight) }
            return Sum(first: first, weights: weights)
        }
    }
}
