import Imaging
import ModelGraph

/// What frames look like, and what is wanted of them: everything that a `SegmentationProgram` is compiled for.
package struct SegmentationFormat: Hashable, Sendable {
    /// Size of the pictures as they are stored.
    package var picture: PixelSize
    /// How they have to be turned; masks are upright.
    package var orientation: Orientation
    package var fit: Fit
    /// `.source` is the size of the upright picture.
    package var maskSize: MaskSize
    package var outputs: SegmentationOutputs
    /// What shows through transparent pixels.
    package var background: RGBColor
    /// The bars of a letterbox.
    package var padding: RGBColor
    package var batch: Int

    /// Creates a format; the sides of `picture` and the batch are at least 1.
    package init(
        picture: PixelSize, orientation: Orientation = .up, fit: Fit = .stretch, maskSize: MaskSize = .source,
        outputs: SegmentationOutputs = SegmentationOutputs(), background: RGBColor = .white,
        padding: RGBColor = .middleGray,
        batch: Int = 1
    ) {
        precondition(picture.width > 0 && picture.height > 0 && batch > 0, "a frame without pixels")
        self.picture = picture
        self.orientation = orientation
        self.fit = fit
        self.maskSize = maskSize
        self.outputs = outputs
        self.background = background
        self.padding = padding
        self.batch = batch
    }
}

/// What is computed of a frame and read back.
package struct SegmentationOutputs: Hashable, Sendable {
    package var categories: Bool
    /// The classes whose confidences are wanted, in this order.
    package var confidenceClasses: [Int]
    /// Whether the network's output at the masks' size is wanted.
    package var scores: Bool
    /// Whether a category mask of the picture's size is wanted besides, whatever the size of the others.
    package var pictureCategories: Bool

    /// Creates a list of outputs; a category mask alone by default.
    package init(
        categories: Bool = true, confidenceClasses: [Int] = [], scores: Bool = false,
        pictureCategories: Bool = false
    ) {
        self.categories = categories
        self.confidenceClasses = confidenceClasses
        self.scores = scores
        self.pictureCategories = pictureCategories
    }
}

extension SegmentationFormat {
    /// The same frames with masks of the picture's size.
    var atPictureSize: SegmentationFormat {
        var format = self
        format.maskSize = .source
        return format
    }
}
