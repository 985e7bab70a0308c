/// What came of the whole network.
package struct NetworkVerdict: Sendable {
    /// How far the scores are from the reference's.
    package let deviation: Deviation
    /// How far they may be.
    package let tolerance: Double
    /// How far they may be in the mean. Nil: no bound of its own.
    package let meanTolerance: Double?
    /// Pixels, and those among them that both devices give the same class.
    package let pixelCount, agreeingPixelCount: Int
    /// Pixels of different class though the reference's best score leads by more than `margin`.
    package let clearlyDifferentPixelCount: Int
    /// A lead of this share of the best score (of 1, where that is smaller) is no near tie.
    package let margin: Double
    /// Whether a second run gave the same bytes.
    package let repeats: Bool

    /// Share of the pixels that have the same class.
    package var agreement: Double { Double(agreeingPixelCount) / Double(pixelCount) }

    /// Whether the network is as it should be.
    package var passes: Bool {
        guard repeats, deviation.error <= tolerance, clearlyDifferentPixelCount == 0 else { return false }
        guard let meanTolerance else { return true }
        return deviation.meanError <= meanTolerance
    }
}
