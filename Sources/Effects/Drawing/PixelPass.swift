import Imaging

/// What is done at each pixel when an effect is drawn: one description for the processor, which is the
/// reference, and for the shaders that repeat it.
///
/// Whatever looks at more than one pixel has been done before: its results lie on grids that are small against the picture.
package struct PixelPass: Sendable {
    /// What is behind the subject.
    package enum Behind: Sendable {
        /// The picture itself.
        case own
        /// Another one of the picture's size, RGB without row padding.
        case picture(Image)
        /// Colours from 0 to 255, rounded to whole ones where they are read.
        case grid(Grid<SIMD4<Float>>)
    }

    /// What is drawn.
    package let plan: PixelPassPlan
    /// The two colours of pixels that are neither opaque nor transparent. Nil: there are none.
    package let edge: EdgeColors?
    /// What is behind the subject.
    package let behind: Behind

    init(_ plan: PixelPassPlan, edge: EdgeColors?, backdrop: Image?, blurred: Grid<SIMD4<Float>>?) {
        self.plan = plan
        self.edge = edge
        switch plan.backdrop {
        case .own: behind = .own
        case .picture:
            guard let backdrop else { preconditionFailure("a background without a picture") }
            precondition(backdrop.size == plan.size && backdrop.format == .rgb, "a background of another size")
            behind = .picture(backdrop)
        case .blur:
            guard let blurred else { preconditionFailure("a blur without colours") }
            behind = .grid(blurred)
        }
    }

    /// Makes the grids from small copies of a picture, wherever those were made.
    ///
    /// - Parameters:
    ///   - small: Of the size `plan.edgeSize`, RGBA without row padding: colours of the picture before white and the matte's
    ///     opacities, each shrunk for itself.
    ///   - weighted: Of the blur's size: the same colours, and how much each counts as background. Nil: nothing is blurred.
    ///   - backdrop: What is behind the subject, where the plan asks for a picture.
    package init(_ plan: PixelPassPlan, small: Image, weighted: Image?, backdrop: Image?) {
        precondition(small.size == plan.edgeSize, "a small copy of another size")
        self.init(
            plan, edge: EdgeColors(small: small), backdrop: backdrop,
            blurred: plan.blur.flatMap { blur in weighted.map { blur.colors(of: $0) } })
    }
}

/// What a pass draws of pictures of one size.
package struct PixelPassPlan: Hashable, Sendable {
    /// What is made of the subject.
    package enum Drawing: Hashable, Sendable {
        /// RGBA with straight alpha.
        case cutout
        /// RGB: the subject over what is behind it.
        case composite(PixelPass.Treatment)
        /// RGB: the picture under the colours of its classes.
        case overlay(OverlayColors)
    }

    /// Where what is behind the subject comes from.
    package enum Backdrop: Hashable, Sendable {
        /// From the picture.
        case own
        /// From another picture.
        case picture
        /// From the picture, out of focus.
        case blur(BackgroundBlur)
    }

    /// Of the pictures.
    package let size: PixelSize
    /// What is drawn.
    package let drawing: Drawing
    /// What is behind it.
    package let backdrop: Backdrop

    /// - Parameter background: What the subject is drawn over. Nil: nothing, it is cut out.
    package init(_ size: PixelSize, over background: Background?) {
        self.size = size
        drawing =
            switch background {
            case nil: .cutout
            case .gray: .composite(.gray)
            case .dim(let amount): .composite(.dim(amount))
            case .color, .gradient, .picture, .blur: .composite(.none)
            }
        backdrop =
            switch background {
            case nil, .gray, .dim: .own
            case .color, .gradient, .picture: .picture
            case .blur(let radius): .blur(BackgroundBlur(radius, of: size))
            }
    }

    /// - Parameter overlay: The colours that are laid over the picture.
    package init(_ size: PixelSize, under overlay: OverlayColors) {
        self.size = size
        drawing = .overlay(overlay)
        backdrop = .own
    }

    /// The size of the copy that the colours of edges are found in.
    package var edgeSize: PixelSize { EdgeColors.size(for: size) }
    /// How the background is blurred. Nil: it is not.
    package var blur: BackgroundBlur? { if case .blur(let blur) = backdrop { blur } else { nil } }
}

extension PixelPass {
    /// What becomes of the colour behind the subject.
    package enum Treatment: Hashable, Sendable {
        /// Nothing.
        case none
        /// It loses its colour.
        case gray
        /// It is darkened, by 1 to black.
        case dim(Float)

        /// What becomes of a colour, 0 to 255.
        @inline(__always)
        func apply(_ color: SIMD3<Float>) -> SIMD3<Float> {
            switch self {
            case .none: color
            // BT.601, as everywhere else here.
            case .gray: SIMD3(repeating: (color * SIMD3(0.299, 0.587, 0.114)).sum())
            case .dim(let amount): color * (1 - amount)
            }
        }
    }
}
