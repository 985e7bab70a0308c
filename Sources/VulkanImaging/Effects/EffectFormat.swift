import Effects
import Imaging

/// Which drawings an `EffectProgram` is compiled for: those of one effect, for pictures of one size.
package struct EffectFormat: Hashable, Sendable {
    /// What opacities are made from.
    enum Opacities: Hashable, Sendable {
        /// They are known.
        case plane
        /// Linear functions of a pixel's colour on a grid of this size, and a ramp.
        case functions(PixelSize, MatteRamp)
    }

    package let plan: PixelPassPlan
    let opacities: Opacities

    package init(_ drawing: PictureDrawing) {
        plan = drawing.plan
        opacities =
            switch drawing.matte {
            case .plane: .plane
            case .functions(let functions, let ramp): .functions(functions.size, ramp)
            }
    }

    /// The size of the functions' grid. Nil: the opacities are known.
    var functionsSize: PixelSize? { if case .functions(let size, _) = opacities { size } else { nil } }

    /// Bytes of the classes of an overlay, in whole words.
    var classByteCount: Int { plan.isOverlay ? (plan.size.pixelCount + 3) / 4 * 4 : 0 }

    /// Bytes of memory that a program takes, on the device and on the host.
    package var byteCount: Int {
        let pixels = plan.size.pixelCount
        let resultBytes = 2 * pixels * (plan.drawing == .cutout ? 4 : 3)
        let backdropBytes = plan.backdrop == .picture ? 4 * pixels : 0
        let opacityBytes = 2 * (functionsSize.map { $0.pixelCount * 16 } ?? pixels)
        // A byte each on both sides.
        let classBytes = plan.isOverlay ? 2 * pixels : 0
        let gridBytes = 2 * 16 * (2 * plan.edgeSize.pixelCount + (plan.blur?.size.pixelCount ?? 0))
        // Upload, picture, layer, and what lies between the passes of a resize.
        return 16 * pixels + resultBytes + classBytes + backdropBytes + opacityBytes + gridBytes
    }
}

extension PixelPassPlan {
    /// Whether classes are shown; then no colours of edges are needed.
    var isOverlay: Bool { if case .overlay = drawing { true } else { false } }
}
