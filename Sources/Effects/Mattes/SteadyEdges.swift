import Imaging

/// What the edges of a stream's frames are made of, one frame after the other: for a film that is drawn, and for a page that draws
/// what its camera sees.
package struct SteadyEdges: Sendable {
    private var smoother = MotionSmoother()

    /// Knows no frame yet.
    package init() {}

    /// What a frame's edges are made of.
    ///
    /// - Parameters:
    ///   - map: Of the subject.
    ///   - categories: The likeliest class of each pixel, laid over the whole picture, so that holes are closed and specks dropped.
    ///     Nil: they stay.
    ///   - smoothing: As `EffectOptions.temporalSmoothing`.
    package mutating func guide(
        _ picture: Image, _ map: SubjectMap, categories: (values: [UInt8], size: PixelSize)?, smoothing: Float,
        for source: EdgeOptions.Source = .guided
    ) -> EdgeGuide {
        var map = map
        if let categories { map.mendOutline(categories: categories.values, of: categories.size) }
        var guide = EdgeGuide(picture, map, for: source)
        if smoothing > 0 { smoother.smooth(&guide, strength: smoothing) }
        return guide
    }
}
