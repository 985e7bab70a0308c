import Imaging

/// What is seen behind a subject.
public enum Background: Hashable, Sendable {
    /// One colour.
    case color(RGBColor)
    /// Colours that pass into one another along a line.
    case gradient(Gradient)
    /// Another picture.
    case picture(Image, PictureFit)
    /// The photograph's own background, out of focus. The radius is the standard deviation of the blur in pixels of the photograph,
    /// as in CSS, in `blurRange`; nil is a fortieth of its longer side.
    case blur(radius: Float? = nil)
    /// The photograph's own background without its colours.
    case gray
    /// The photograph's own background, darkened: by 0 not at all, by 1 to black.
    case dim(Float)

    /// Radii of a blur, in pixels.
    public static let blurRange: ClosedRange<Float> = 0.5...500
}

/// How a picture is laid behind another one of a different shape.
public enum PictureFit: String, CaseIterable, Hashable, Sendable {
    /// It fills everything, its sides keep their proportion, what stands over is cut off.
    case cover
    /// All of it is seen, its sides keep their proportion; the rest is black.
    case contain
    /// In its own size, from the top left corner, again and again.
    case tile
}

/// Colours that pass into one another along a line.
public struct Gradient: Hashable, Sendable {
    /// A colour and where it lies.
    public struct Stop: Hashable, Sendable {
        /// The colour there.
        public var color: RGBColor
        /// 0 is the line's beginning, 1 its end.
        public var position: Float

        /// Creates a stop.
        public init(_ color: RGBColor, at position: Float) {
            self.color = color
            self.position = position
        }
    }

    /// Where the line goes, in degrees: 0 upwards, 90 to the right, 180 downwards, as in CSS. It is so long that the corners have
    /// the first and the last colour.
    public var angle: Float
    /// Colours, in the order of their positions; at least one.
    public var stops: [Stop]

    /// Creates a gradient.
    public init(angle: Float = 180, stops: [Stop]) {
        precondition(!stops.isEmpty, "a gradient has a colour")
        self.angle = angle
        self.stops = stops.sorted { $0.position < $1.position }
    }

    /// Creates a gradient of colours at equal distances.
    public init(angle: Float = 180, colors: [RGBColor]) {
        let last = Float(max(1, colors.count - 1))
        self.init(angle: angle, stops: colors.enumerated().map { Stop($1, at: Float($0) / last) })
    }

    /// The colour at a position, 0 to 255 in each channel.
    func color(at position: Float) -> SIMD3<Float> {
        guard let next = stops.firstIndex(where: { $0.position > position }) else {
            return SIMD3(stops[stops.count - 1].color)
        }
        guard next > 0 else { return SIMD3(stops[0].color) }
        let (before, after) = (stops[next - 1], stops[next])
        let share = (position - before.position) / (after.position - before.position)
        return SIMD3(before.color) + (SIMD3(after.color) - SIMD3(before.color)) * share
    }
}

extension SIMD3<Float> {
    /// A colour, 0 to 255 in each channel.
    @inline(__always)
    init(_ color: RGBColor) { self.init(Float(color.red), Float(color.green), Float(color.blue)) }
}
