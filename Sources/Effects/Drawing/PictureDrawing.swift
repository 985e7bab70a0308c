import Imaging

/// A picture with a matte, and what is to be drawn of it, by whoever does it.
package struct PictureDrawing: Sendable {
    /// The picture.
    package let picture: Image
    /// What its matte is made from.
    package let matte: MatteSource
    /// What is drawn.
    package let plan: PixelPassPlan
    /// What is behind the subject, where that is another picture; of this one's size, RGB without row padding.
    package let backdrop: Image?
    /// The class of each pixel, where classes are shown: as if all were subject. 0 is shown as it is.
    package let classes: [UInt8]

    /// A cut-out, or a subject over a background.
    ///
    /// - Parameters:
    ///   - background: What the subject is drawn over. Nil: nothing, it is cut out.
    ///   - backdrop: The background as a picture, where it is one and has been made before.
    package init(_ picture: Image, _ matte: MatteSource, over background: Background?, backdrop: Image? = nil) {
        self.picture = picture
        self.matte = matte
        plan = PixelPassPlan(picture.size, over: background)
        // Nothing happens to one that is as it should be.
        self.backdrop = (backdrop ?? background?.picture(of: picture.size))?.flattened()
        classes = []
    }

    /// An overlay.
    package init(_ picture: Image, _ matte: MatteSource, showing classes: [UInt8], _ colors: OverlayColors) {
        precondition(classes.count == picture.size.pixelCount, "the classes are of another size than the picture")
        self.picture = picture
        self.matte = matte
        plan = PixelPassPlan(picture.size, under: colors)
        backdrop = nil
        self.classes = classes
    }

    /// The drawing, made on the processor.
    package func drawn() -> Image {
        let matte = matte.matte(of: picture)
        return switch plan.drawing {
        case .cutout, .composite: Compositing.draw(picture, matte, plan, backdrop: backdrop)
        case .overlay(let colors):
            Compositing.overlay(picture, categories: classes, palette: colors.palette) {
                blend(colors.opacity, over: 0, alpha: matte.opacities[$0])
            }
        }
    }
}

/// Draws pictures.
package protocol PictureDrawer: Sendable {
    /// Draws a picture, as `PictureDrawing.drawn()` does it on the processor, within one level. May be called from any thread.
    func draw(_ drawing: PictureDrawing) -> Image
}

/// Draws on the processor.
package struct ProcessorDrawer: PictureDrawer {
    package init() {}

    package func draw(_ drawing: PictureDrawing) -> Image { drawing.drawn() }
}

/// The colours of an overlay.
package struct OverlayColors: Hashable, Sendable {
    /// A colour for each class.
    package var palette: Palette
    /// How far they cover the picture where that is all subject.
    package var opacity: UInt8

    /// The colours of a style, without its outlines.
    package init(_ palette: Palette, _ style: OverlayStyle) {
        self.palette = palette
        self.palette.recolor(style.colors)
        opacity = byte(fraction: style.opacity)
    }
}
