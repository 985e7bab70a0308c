import CPUKernels
import ModelGraph

/// How rows (or columns) of scores become rows (or columns) of a mask: several bilinear resizes in a row, as one weighted sum.
///
/// Two resizes, one after the other, are again a sum over a few neighbours, with weights that are products of theirs. A mask
/// at a picture's size therefore comes straight from the small map of scores: 33 columns of scores to 640 columns of a
/// picture, by way of the model's 257 that never exist.
struct SampleTable: Sendable {
    /// The outputs that are made of anything: all, or those of a region.
    let seen: Range<Int>
    /// Neighbouring outputs that are made of the same inputs; they cover `seen`.
    let runs: [CKRun]
    /// Weights of each output, `taps` of them, for the inputs from its run's `source` on; zeros outside `seen`.
    let weights: [[Float]]
    /// The most inputs that an output is made of.
    let taps: Int

    /// One output: the weights of the inputs that it is made of, from `first` on.
    fileprivate struct Sum {
        var first: Int
        var weights: [Double]

        var end: Int { first + weights.count }
    }

    /// Composes the resizes of one axis.
    ///
    /// - Parameters:
    ///   - side: The axis.
    ///   - source: Size of the scores.
    ///   - resizes: First to last; none where scores are taken as they are.
    ///   - span: What part of their result is shown where. Nil: the whole, everywhere.
    ///   - target: Size of the mask.
    init(
        _ side: KeyPath<Extent, Int>, from source: Extent, by resizes: [ScoreHead.Resize],
        showing span: ScoreRegion.Span?, to target: Extent
    ) {
        let count = target[keyPath: side]
        let lengths = [source[keyPath: side]] + resizes.map { $0.extent[keyPath: side] }
        var taps = zip(resizes, zip(lengths, lengths.dropFirst())).map { resize, length in
            resize.convention.taps(from: length.0, to: length.1)
        }
        if let span { taps.append(span.taps(length: lengths[lengths.count - 1])) }
        let seen = span?.target ?? 0..<count
        var sums = (0..<seen.count).map { Sum(first: $0, weights: [1]) }
        for taps in taps.reversed() {
            for index in sums.indices { sums[index] = Sum(sums[index], by: taps) }
        }
        self.init(sums, at: seen, of: count)
    }

    private init(_ sums: [Sum], at seen: Range<Int>, of count: Int) {
        var runs: [CKRun] = []
        for (output, sum) in zip(seen, sums) {
            let (first, end) = (sum.first, sum.end)
            // An output that lies on an input joins the cell beside it; one between two cells stays alone.
            if let run = runs.last, end - Int(run.source) <= max(2, Int(run.taps)), first >= Int(run.source) {
                runs[runs.count - 1].count += 1
                runs[runs.count - 1].taps = max(run.taps, Int32(end) - run.source)
            } else {
                runs.append(
                    CKRun(output: Int32(output), count: 1, source: Int32(first), taps: Int32(end - first)))
            }
        }
        self.runs = runs
        let most = runs.map { Int($0.taps) }.max() ?? 1
        taps = most
        var weights = [[Float]](repeating: [Float](repeating: 0, count: most), count: count)
        for run in runs {
            for output in Int(run.output)..<Int(run.output + run.count) {
                let sum = sums[output - seen.lowerBound]
                for (offset, weight) in sum.weights.enumerated() {
                    weights[output][sum.first + offset - Int(run.source)] = Float(weight)
                }
            }
        }
        self.weights = weights
        self.seen = seen
    }
}

extension SampleTable.Sum {
    /// A sum of a resize's outputs as one of its inputs.
    fileprivate init(_ outer: Self, by taps: [ResizeTap]) {
        let base = taps[outer.first].first
        var inner = [Double](repeating: 0, count: taps[outer.end - 1].second + 1 - base)
        for (offset, weight) in outer.weights.enumerated() {
            let tap = taps[outer.first + offset]
            inner[tap.first - base] += weight * (1 - tap.share)
            inner[tap.second - base] += weight * tap.share
        }
        // What lies exactly on an input has no neighbours.
        while inner.count > 1, inner[inner.count - 1] == 0 { inner.removeLast() }
        first = base
        weights = inner
    }
}
