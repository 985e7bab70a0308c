import Imaging

/// How the edge of the subject is drawn.
public struct EdgeOptions: Hashable, Sendable {
    /// Where the subject's edge comes from.
    public enum Source: String, CaseIterable, Hashable, Sendable {
        /// The network's confidences, drawn along the edges of the picture.
        case guided
        /// The network's confidences alone, by bilinear interpolation.
        case plain
    }

    /// Where the edge comes from.
    public var source: Source = .guided
    /// The confidence that is half opaque, in `thresholdRange`: less makes the subject larger.
    public var threshold: Float = 0.5
    /// Pixels of the picture by which the subject grows (or shrinks, where negative), in `shiftRange`.
    public var shift: Float = 0
    /// Pixels of the picture over which the edge fades besides, in `featherRange`.
    public var feather: Float = 0

    /// What `threshold` may be.
    public static let thresholdRange: ClosedRange<Float> = 0.05...0.95
    /// What `shift` may be, in pixels.
    public static let shiftRange: ClosedRange<Float> = -200...200
    /// What `feather` may be, in pixels.
    public static let featherRange: ClosedRange<Float> = 0...200

    /// Creates options: guided, nothing shifted and nothing feathered by default.
    public init(source: Source = .guided, threshold: Float = 0.5, shift: Float = 0, feather: Float = 0) {
        self.source = source
        self.threshold = threshold
        self.shift = shift
        self.feather = feather
    }

    /// What is wrong with the numbers, as a sentence. Nil: nothing is.
    package var fault: String? {
        if !Self.thresholdRange.contains(threshold) { return "the edge's threshold is 0.05 to 0.95, not \(threshold)" }
        if !Self.shiftRange.contains(shift) { return "the edge's shift is -200 to 200 pixels, not \(shift)" }
        if !Self.featherRange.contains(feather) { return "the edge's feather is 0 to 200 pixels, not \(feather)" }
        return nil
    }
}
