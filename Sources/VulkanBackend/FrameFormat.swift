import Imaging
import ModelGraph

/// What frames look like, and what is wanted of them: everything that a `FrameProgram` is compiled for.
public struct FrameFormat: Hashable, Sendable {
    /// Size of masks.
    public enum MaskSize: String, Hashable, Sendable, CaseIterable {
        /// The picture's, turned upright.
        case picture
        /// The network's output's.
        case model
    }

    /// Size of the pictures as they are stored.
    public var picture: PixelSize
    /// How they have to be turned; masks and overlays are upright.
    public var orientation: Orientation
    /// How they are brought to the network's size.
    public var fit: Fit
    /// Size of the masks.
    public var maskSize: MaskSize
    /// What is computed.
    public var outputs: FrameOutputs
    /// What shows through transparent pixels.
    public var background: RGBColor
    /// The bars of a letterbox.
    public var padding: RGBColor
    /// Pictures in a frame.
    public var batch: Int

    /// Creates a format; the sides of `picture` and the batch are at least 1.
    public init(
        picture: PixelSize, orientation: Orientation = .up, fit: Fit = .stretch, maskSize: MaskSize = .picture,
        outputs: FrameOutputs = FrameOutputs(), background: RGBColor = .white, padding: RGBColor = .middleGray,
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
public struct FrameOutputs: Hashable, Sendable {
    /// Class colours over the picture.
    public struct Overlay: Hashable, Sendable {
        /// A colour for each class.
        public var palette: Palette
        /// 0 shows the picture, 1 the colours; rounded to 1/255.
        public var opacity: Float

        /// Creates the description of an overlay.
        public init(palette: Palette, opacity: Float = 0.5) {
            self.palette = palette
            self.opacity = opacity
        }
    }

    /// Whether a category mask is wanted.
    public var categories: Bool
    /// The classes whose confidences are wanted, in this order.
    public var confidenceClasses: [Int]
    /// Whether the network's output at the masks' size is wanted.
    public var scores: Bool
    /// An overlay, where one is wanted; masks must have the picture's size.
    public var overlay: Overlay?
    /// Whether a category mask of the picture's size is wanted besides, whatever the size of the others.
    public var pictureCategories: Bool

    /// Creates a list of outputs; a category mask alone by default.
    public init(
        categories: Bool = true, confidenceClasses: [Int] = [], scores: Bool = false, overlay: Overlay? = nil,
        pictureCategories: Bool = false
    ) {
        self.categories = categories
        self.confidenceClasses = confidenceClasses
        self.scores = scores
        self.overlay = overlay
        self.pictureCategories = pictureCategories
    }
}

extension FrameFormat {
    /// The same frames with masks of the picture's size.
    var atPictureSize: FrameFormat {
        var format = self
        format.maskSize = .picture
        return format
    }
}
