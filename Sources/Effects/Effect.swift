import Imaging

/// What is made of a picture and the objects found in it.
public enum Effect: Hashable, Sendable {
    /// The colours of the classes over the picture.
    case overlay(OverlayStyle)
    /// The subject alone, everything else transparent.
    case cutout
    /// The subject before another background, or before its own in another form.
    case composite(Background)
}

/// An effect, on which objects it works, and how their edges are drawn.
public struct EffectOptions: Hashable, Sendable {
    /// What is made.
    public var effect: Effect
    /// The classes that are the subject; all others are background. Nil: all but class 0.
    public var classes: ClassSelection?
    /// How the edge is drawn. Nil: as the effect needs it, guided for a cut-out and a composite; an overlay without an edge of its
    /// own shows the category mask.
    public var edges: EdgeOptions?
    /// How much of the subject's confidence comes from the frames before, in `smoothingRange`: it follows the picture's motion, so
    /// that edges of what is still do not flicker and what moves has no trail. Single pictures know no frames before.
    public var temporalSmoothing: Float = 0.6
    /// Whether in the frames of a video small holes in the subject are closed and specks beside it dropped: less than a twentieth
    /// and a fiftieth of its largest piece, but for holes that surely show the background. Single pictures stay as they are, and so
    /// does an overlay without an edge of its own.
    public var closesHoles = true

    /// What `temporalSmoothing` may be.
    public static let smoothingRange: ClosedRange<Float> = 0...0.9

    /// Creates options with defaults for all but the effect.
    public init(_ effect: Effect, classes: ClassSelection? = nil, edges: EdgeOptions? = nil) {
        self.effect = effect
        self.classes = classes
        self.edges = edges
    }

    /// The edge that is drawn. Nil: that of the category mask.
    package var drawnEdges: EdgeOptions? {
        switch effect {
        case .overlay: edges
        case .cutout, .composite: edges ?? EdgeOptions()
        }
    }

    /// The classes of the subject for a model, ascending.
    package func subject(of labels: [String]) throws(WordError) -> [Int] {
        try (classes ?? .foreground).indices(in: labels).sorted()
    }

    /// What is wrong with them, in words. Nil: nothing is.
    ///
    /// - Parameter labels: The model's.
    package func fault(_ labels: [String]) -> String? {
        if let fault = edges?.fault { return fault }
        guard Self.smoothingRange.contains(temporalSmoothing) else {
            return "the temporal smoothing is 0 to 0.9, not \(temporalSmoothing)"
        }
        do throws(WordError) {
            if try classes?.indices(in: labels).isEmpty == true { return "no class is chosen" }
        } catch {
            return error.description
        }
        switch effect {
        case .cutout: break
        case .overlay(let style):
            guard OverlayStyle.opacityRange.contains(style.opacity) else {
                return "the overlay's opacity is 0 to 1, not \(style.opacity)"
            }
            guard OverlayStyle.outlineRange.contains(style.outline) else {
                return "the outline is 0 to 50 pixels wide, not \(style.outline)"
            }
            if let absent = style.colors.keys.sorted().first(where: { !labels.indices.contains($0) }) {
                return ClassSelection.absence(of: absent, in: labels)
            }
        case .composite(.blur(let radius)):
            guard radius.map(Background.blurRange.contains) ?? true else {
                return "the blur's radius is 0.5 to 500 pixels, not \(radius ?? 0)"
            }
        case .composite(.dim(let amount)):
            guard (0...1).contains(amount) else {
                return "the background is dimmed by 0 to 1, not \(amount)"
            }
        case .composite(.gradient(let gradient)):
            guard !gradient.stops.isEmpty else { return "the gradient has no colour" }
            guard gradient.angle.isFinite, gradient.stops.allSatisfy(\.position.isFinite) else {
                return "the gradient's angle and positions are numbers"
            }
        case .composite(.color), .composite(.gray), .composite(.picture): break
        }
        return nil
    }
}
