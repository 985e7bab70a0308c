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

    /// One output: the inputs it is made of, in rising order, and their weights.
    private typealias Sum = [(index: Int, weight: Double)]

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
        var sums: [Sum] = (0..<seen.count).map { [($0, 1)] }
        for taps in taps.reversed() {
            sums = sums.map { sum in
                var inner: [Int: Double] = [:]
                for (index, weight) in sum {
                    let tap = taps[index]
                    inner[tap.first, default: 0] += weight * (1 - tap.share)
                    inner[tap.second, default: 0] += weight * tap.share
                }
                return inner.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            }
        }
        self.init(sums, at: seen, of: count)
    }

    private init(_ sums: [Sum], at seen: Range<Int>, of count: Int) {
        var runs: [CKRun] = []
        for (output, sum) in zip(seen, sums) {
            let first = sum[0].index
            let end = sum[sum.count - 1].index + 1
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
                for (index, weight) in sums[output - seen.lowerBound] {
                    weights[output][index - Int(run.source)] = Float(weight)
                }
            }
        }
        self.weights = weights
        self.seen = seen
    }
}
