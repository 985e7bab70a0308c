import CPUKernels
import ModelGraph

/// The sums that rows (or columns) of a mask are (see `ScoreSums`), as the kernels read them.
struct SampleTable: Sendable {
    /// The outputs that are made of anything: all, or those of a region.
    let seen: Range<Int>
    /// Neighbouring outputs that are made of the same inputs; they cover `seen`.
    let runs: [CKRun]
    /// Weights of each output, `taps` of them, for the inputs from its run's `source` on; zeros outside `seen`.
    let weights: [[Float]]
    /// The most inputs that an output is made of.
    let taps: Int

    /// Creates the table of a mask of `count` rows or columns.
    init(_ sums: ScoreSums, of count: Int) {
        var runs: [CKRun] = []
        for (output, sum) in zip(sums.seen, sums.sums) {
            let (first, end) = (sum.range.lowerBound, sum.range.upperBound)
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
                let sum = sums.sums[output - sums.seen.lowerBound]
                for (index, weight) in zip(sum.range, sum.weights) { weights[output][index - Int(run.source)] = weight }
            }
        }
        self.weights = weights
        seen = sums.seen
    }
}
