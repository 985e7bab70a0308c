import CPUKernels
import ModelGraph

/// How rows (or columns) of scores become rows (or columns) of a mask: several bilinear resizes in a row, as one weighted sum.
///
/// Two resizes, one after the other, are again a sum over a few neighbours, with weights that are products of theirs. A mask
/// at a picture's size therefore comes straight from the small map of scores: 33 columns of scores to 640 columns of a
/// picture, by way of the model's 257 that never exist.
struct SampleTable: Sendable {
    /// Neighbouring outputs that are made of the same inputs.
    let runs: [CKRun]
    /// Weights of each output, `taps` of them, for the inputs from its run's `source` on.
    let weights: [[Float]]
    /// The most inputs that an output is made of.
    let taps: Int

    /// One output: the inputs it is made of, in rising order, and their weights.
    private typealias Sum = [(index: Int, weight: Double)]

    /// Composes resizes, the first of which reads an input of `source` rows or columns.
    init(source: Int, resizes: [(target: Int, convention: ResizeConvention)]) {
        let lengths = [source] + resizes.map(\.target)
        var sums: [Sum] = (0..<lengths[lengths.count - 1]).map { [($0, 1)] }
        for (number, resize) in resizes.enumerated().reversed() {
            let taps = resize.convention.taps(from: lengths[number], to: resize.target)
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
        self.init(sums)
    }

    private init(_ sums: [Sum]) {
        var runs: [CKRun] = []
        for (output, sum) in sums.enumerated() {
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
        var weights: [[Float]] = []
        for run in runs {
            for output in Int(run.output)..<Int(run.output + run.count) {
                var row = [Float](repeating: 0, count: most)
                for (index, weight) in sums[output] { row[index - Int(run.source)] = Float(weight) }
                weights.append(row)
            }
        }
        self.weights = weights
    }
}
