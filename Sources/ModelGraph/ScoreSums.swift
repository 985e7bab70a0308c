/// How rows (or columns) of scores become rows (or columns) of a mask: several bilinear resizes in a row, as one weighted sum.
///
/// Two resizes, one after the other, are again a sum over a few neighbours, with weights that are products of theirs. A mask
/// at a picture's size therefore comes straight from the small map of scores: 33 columns of scores to 640 columns of a
/// picture, by way of the model's 257 that never exist.
package struct ScoreSums: Sendable {
    /// What one row or column of a mask is made of: neighbours, each with its weight; the weights add up to 1.
    package struct Sum: Hashable, Sendable {
        /// The first row or column of the scores.
        package let first: Int
        /// Weights of that one and of those that follow it.
        package let weights: [Float]

        /// The rows or columns that the weights belong to.
        package var range: Range<Int> { first..<first + weights.count }
    }

    /// The rows or columns of the mask that are made of anything: all, or those of a region.
    package let seen: Range<Int>
    /// A sum for each of those.
    package let sums: [Sum]

    /// Composes the resizes of one axis.
    ///
    /// - Parameters:
    ///   - side: The axis.
    ///   - source: Size of the scores.
    ///   - resizes: First to last; none where scores are taken as they are.
    ///   - span: What part of their result is shown where. Nil: the whole, everywhere.
    ///   - target: Size of the mask.
    package init(
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
        var composed = (0..<seen.count).map { Composed(first: $0, weights: [1]) }
        for taps in taps.reversed() {
            for index in composed.indices { composed[index] = Composed(composed[index], of: taps) }
        }
        sums = composed.map { Sum(first: $0.first, weights: $0.weights.map { Float($0) }) }
    }
}

/// A sum on its way from the last resize to the first: float64, so that only the products are rounded.
private struct Composed {
    var first: Int
    var weights: [Double]

    init(first: Int, weights: [Double]) {
        self.first = first
        self.weights = weights
    }

    /// A sum of a resize's outputs as a sum of its inputs.
    init(_ outer: Composed, of taps: [ResizeTap]) {
        first = taps[outer.first].first
        weights = [Double](repeating: 0, count: taps[outer.first + outer.weights.count - 1].second + 1 - first)
        for (offset, weight) in outer.weights.enumerated() {
            let tap = taps[outer.first + offset]
            weights[tap.first - first] += weight * (1 - tap.share)
            weights[tap.second - first] += weight * tap.share
        }
        // What lies exactly on an input has no second neighbour.
        while weights.count > 1, weights[weights.count - 1] == 0 { weights.removeLast() }
    }
}
