import Imaging
import ModelGraph

/// How masks are made of a network's output: what Shaders/include/sampling.glsl and the shaders around it need to know.
///
/// The rules are those of the processor's `ScoreSampler`.
struct SamplingPlan: Sendable {
    /// What makes a score a confidence.
    enum ConfidenceFunction: UInt32, Sendable {
        case identity = 0
        case softmax = 1
        case sigmoid = 2
    }

    /// What the scores are read from.
    let scores: Shape
    let masks: PixelSize
    let rows, columns: ScoreSums
    let confidence: ConfidenceFunction
    /// What a single channel must reach to be the subject.
    let threshold: Float

    var isSubjectOnly: Bool { scores.channels == 1 }

    /// Whether the whole graph has to be run, head included, before masks are made: a soft-max or sigmoid at its end does not
    /// commute with a further resize, and raw scores are wanted as it leaves them.
    static func needsWholeGraph(_ head: ScoreHead, channels: Int, outputs: SegmentationOutputs, resamples: Bool) -> Bool
    {
        head.activation != .none && (resamples || outputs.scores || (channels == 1 && head.activation == .softmax))
    }

    /// Whether masks of `format` are another map than the network's output.
    static func resamples(_ format: SegmentationFormat, _ geometry: FitGeometry, output: Extent) -> Bool {
        guard format.maskSize == .source else { return false }
        return region(geometry, output: output) != nil || Extent(geometry.picture) != output
    }

    /// - Parameters:
    ///   - scores: Extent of what is sampled: the trunk's output, or the whole graph's.
    ///   - head: What is still to be done to it; nil where the whole graph was run.
    ///   - output: Size of the whole graph's output.
    init(
        scores: Shape, head: ScoreHead?, kind: OutputKind, output: Extent, geometry: FitGeometry,
        format: SegmentationFormat
    ) {
        self.scores = scores
        let target = format.maskSize == .source ? Extent(geometry.picture) : output
        masks = PixelSize(width: target.width, height: target.height)
        let region = format.maskSize == .source ? Self.region(geometry, output: output) : nil
        var resizes = head?.resizes ?? []
        if region == nil && target != output {
            resizes.append(ScoreHead.Resize(extent: target, convention: .halfPixel))
        }
        rows = ScoreSums(\.height, from: scores.extent, by: resizes, showing: region?.rows, to: target)
        columns = ScoreSums(\.width, from: scores.extent, by: resizes, showing: region?.columns, to: target)
        let isSubjectOnly = scores.channels == 1
        let whole: ConfidenceFunction =
            switch head?.activation {
            // Activated by the graph; a second time only where its output is a logit all the same.
            case nil: .identity
            case .softmax?: .softmax
            case .sigmoid?: .sigmoid
            case HeadActivation.none?:
                kind == .probabilities ? .identity : isSubjectOnly ? .sigmoid : .softmax
            }
        confidence = whole
        // A logit of 0 is a probability of 0.5.
        threshold = confidence == .sigmoid ? 0 : 0.5
    }

    /// What masks of the picture's size show.
    private static func region(_ geometry: FitGeometry, output: Extent) -> ScoreRegion? {
        let (seen, shown) = (geometry.source, geometry.target)
        return ScoreRegion(
            seen: (seen.rows, seen.columns), of: Extent(geometry.picture), shown: (shown.rows, shown.columns),
            of: Extent(geometry.network), output: output)
    }
}

extension Extent {
    fileprivate init(_ size: PixelSize) { self.init(height: size.height, width: size.width) }
}

extension ScoreSums {
    /// The sums of a mask's rows or columns as a shader reads them, `lanes` neighbouring ones at a time: for each such group the
    /// first input that any of them is made of, then `taps` weights; `lanes` words each.
    ///
    /// - Parameters:
    ///   - count: Rows or columns of the mask; those that are not `seen` have weights of zero.
    ///   - length: Rows or columns of the scores.
    func words(lanes: Int, count: Int, length: Int) -> (words: [UInt32], taps: Int) {
        let groups = (0..<(count + lanes - 1) / lanes).map { group in
            (group * lanes..<(group + 1) * lanes).map { seen.contains($0) ? sums[$0 - seen.lowerBound] : nil }
        }
        let spans = groups.map { group in
            let ranges = group.compactMap { $0?.range }
            let first = ranges.map(\.lowerBound).min() ?? 0
            return first..<(ranges.map(\.upperBound).max() ?? first + 1)
        }
        let taps = spans.map(\.count).max() ?? 1
        var words: [UInt32] = []
        words.reserveCapacity(groups.count * (1 + taps) * lanes)
        for (group, span) in zip(groups, spans) {
            // As many taps everywhere, none of them past the last input.
            let first = min(span.lowerBound, length - taps)
            words += [UInt32(first)] + [UInt32](repeating: 0, count: lanes - 1)
            for input in first..<first + taps {
                for sum in group {
                    guard let sum, sum.range.contains(input) else {
                        words.append(0)
                        continue
                    }
                    words.append(sum.weights[input - sum.first].bitPattern)
                }
            }
        }
        return (words, taps)
    }
}
