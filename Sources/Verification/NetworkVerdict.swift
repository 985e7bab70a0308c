/// What came of the whole network.
public struct NetworkVerdict: Sendable {
    /// How far the scores are from the reference's.
    public let deviation: Deviation
    /// How far they may be.
    public let tolerance: Double
    /// Pixels, and those among them that both devices give the same class.
    public let pixelCount, agreeingPixelCount: Int
    /// Pixels of different class though the reference's best score leads by more than `margin`.
    public let clearlyDifferentPixelCount: Int
    /// A lead of this share of the best score (of 1, where that is smaller) is no near tie.
    public let margin: Double
    /// Whether a second run gave the same bytes.
    public let repeats: Bool

    /// Share of the pixels that have the same class.
    public var agreement: Double { Double(agreeingPixelCount) / Double(pixelCount) }

    /// Whether the network is as it should be.
    public var passes: Bool { repeats && deviation.error <= tolerance && clearlyDifferentPixelCount == 0 }
}
