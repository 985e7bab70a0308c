@_exported import Effects
@_exported import Imaging

/// What every task of a model needs: the model and the device that runs it.
public struct BaseOptions: Sendable {
    /// Path of a model file (`NAME.safetensors`). Nil: as `ModelLocator()` finds one, which does not look into the user's cache.
    public var modelAssetPath: String?
    /// Bytes of memory that the model may take to be run on the processor, weights and file included; one that would take more is
    /// refused before a weight is read. 1 GiB, twice what the largest networks of this kind need; 8 GiB is the most.
    public var modelMemoryLimit = 1 << 30
    /// What the network runs on.
    public var device: Device = .automatic
    /// How a Vulkan device stores activations.
    public var precision: Precision = .float32
    /// How much time goes, the first time that a device and a model meet, into finding the fastest variants of its shaders. Nil:
    /// quick on a graphics processor, none on a driver that is software.
    public var tuning: Tuning?
    /// Threads of the CPU path. Nil: one for each core that the process may use.
    public var threadCount: Int?
    /// Where what a Vulkan driver has compiled, and what tuning has found, is kept for the next start; nil for nowhere. A folder that cannot be used is
    /// done without.
    public var shaderCacheFolder: String? = ModelLocator().cacheFolder.map { $0 + "/vulkan" }
    /// Told once where the device failed and the processor has taken over. Called from any thread.
    public var warningHandler: (@Sendable (String) -> Void)?

    /// Creates options with their defaults.
    public init() {}
}

/// How pictures come to the segmenter.
public enum RunningMode: String, Sendable, CaseIterable {
    /// Single pictures, each call waiting for its result.
    case image
    /// Frames of a video in their order, each call waiting for its result, which carries the frame's timestamp.
    case video
    /// Frames of a camera: calls return at once, results come to the delegate and to `liveStreamResults()`.
    case liveStream
}

/// Settings of an `ImageSegmenter`, fixed when it is created.
public struct ImageSegmenterOptions: Sendable {
    /// The model and the device.
    public var baseOptions = BaseOptions()
    /// How pictures come.
    public var runningMode: RunningMode = .image
    /// Whether results have a `categoryMask`.
    public var shouldOutputCategoryMask = true
    /// Whether results have `confidenceMasks`.
    public var shouldOutputConfidenceMasks = false
    /// The classes of the confidence masks. Nil: all, in order.
    public var confidenceClasses: ClassSelection?
    /// Whether results have `scores`, the network's raw output for every class at every pixel.
    public var shouldOutputScores = false
    /// The size of all masks.
    public var maskSize: MaskSize = .source
    /// The classes that effects are to be drawn of, out of the same run of the network as the masks: those of the effects'
    /// `EffectOptions.classes`, or `.foreground` where they have none. Nil: results are for no effects.
    ///
    /// Results can then be given to `EffectRenderer.render(image:result:)`. Confidence masks and scores beside them have the
    /// network's size.
    public var subjectClasses: ClassSelection?
    /// Whether results have a category mask of the picture's size besides, out of the same run of the network.
    package var shouldOutputPictureCategoryMask = false
    /// Whether the subject's map is wanted alone, without the category mask of the picture's size that drawing takes.
    package var isSubjectMapOnly = false
    /// How a picture is brought into the network's rectangle.
    public var fit: Fit = .stretch
    /// The shorter side of a tile in pixels of the picture, for the fit `tile`.
    ///
    /// Nil: as large as the picture allows, but no more than eight times the network's input. So a panorama has a row of tiles of
    /// its own height, and a photograph of 12 megapixels six tiles for a network of 257x257. Smaller tiles find smaller things,
    /// and know less of what surrounds them; there may be 48 of them.
    public var tileSide: Int?
    /// Receives the results of a live stream. Held weakly.
    public weak var imageSegmenterLiveStreamDelegate: (any ImageSegmenterLiveStreamDelegate)?

    /// Creates options with their defaults.
    public init() {}
}
