/// Which part of a mask shows which part of the model's output, where they do not cover each other.
///
///     model's output              mask
///     +---------------+           +---------+
///     |  +---------+  |           | unseen  |
///     |  | source  |  |  resize   +---------+
///     |  +---------+  | --------> | target  |
///     +---------------+           +---------+
///
/// A letterboxed picture is a part of the model's output and the whole mask, a cropped one the whole output and a part
/// of the mask.
package struct ScoreRegion: Hashable, Sendable {
    /// One of the two axes.
    package struct Span: Hashable, Sendable {
        /// The edges of the part of the model's output, in its pixels: 0 is the first pixel's outer edge.
        package var source: Range<Double>
        /// The rows or columns of the mask that show it.
        package var target: Range<Int>

        /// Creates a span; neither part is empty.
        package init(source: Range<Double>, target: Range<Int>) {
            precondition(!source.isEmpty && !target.isEmpty, "a region without pixels")
            self.source = source
            self.target = target
        }
    }

    package var rows: Span
    package var columns: Span

    package init(rows: Span, columns: Span) {
        self.rows = rows
        self.columns = columns
    }
}

extension ScoreRegion {
    /// Rows and columns of a picture or a map.
    package typealias Part = (rows: Range<Int>, columns: Range<Int>)

    /// What a mask of a picture's size shows of the model's output. Nil: the whole shows the whole.
    ///
    /// - Parameters:
    ///   - seen: The part of the picture that the network sees.
    ///   - shown: The part of the network's input that shows it.
    package init?(seen: Part, of picture: Extent, shown: Part, of input: Extent, output: Extent) {
        if seen == picture.whole, shown == input.whole { return nil }
        rows = Span(showing: shown.rows, of: input.height, output: output.height, at: seen.rows)
        columns = Span(showing: shown.columns, of: input.width, output: output.width, at: seen.columns)
    }
}

extension Extent {
    fileprivate var whole: ScoreRegion.Part { (0..<height, 0..<width) }
}

extension ScoreRegion.Span {
    /// What a network got at `input` of its `inputLength` rows or columns, of which it made `outputLength`.
    fileprivate init(
        showing input: Range<Int>, of inputLength: Int, output outputLength: Int, at target: Range<Int>
    ) {
        let scale = Double(outputLength) / Double(inputLength)
        self.init(source: Double(input.lowerBound) * scale..<Double(input.upperBound) * scale, target: target)
    }

    /// The taps of every row or column of `target`, for a model's output of `length`, with half-pixel centres.
    ///
    /// Positions stay half a pixel inside `source`, so that no bar of a letterbox bleeds into the picture.
    func taps(length: Int) -> [ResizeTap] {
        let size = source.upperBound - source.lowerBound
        let inset = min(0.5, size / 2)
        let nearest = max(source.lowerBound + inset - 0.5, 0)
        let farthest = min(source.upperBound - inset - 0.5, Double(length - 1))
        return (0..<target.count).map { index in
            let position = (Double(index) + 0.5) * size / Double(target.count) - 0.5 + source.lowerBound
            return ResizeTap(at: min(max(position, nearest), farthest), length: length)
        }
    }
}
