import Imaging

/// Runs whole frames: a picture in, masks out, as each call asks for.
///
/// What stands behind it (the CPU path; a Vulkan frame scheduler) is no concern of `ImageSegmenter`'s.
package protocol SegmentationEngine: AnyObject, Sendable {
    /// What the work is done on now, for people.
    var deviceName: String { get }
    /// Why the device that the engine was made for is not used any more. Nil: it is.
    var deviceFailure: String? { get }
    /// Which variants of its shaders the device has found to be the fastest, for people. Nil: it has not looked.
    var deviceTuning: String? { get }

    /// Segments one picture. May be called from any thread; calls that meet wait for each other.
    ///
    /// - Parameter request: Made for the engine's model.
    func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks
}

extension SegmentationEngine {
    package var deviceFailure: String? { nil }
    package var deviceTuning: String? { nil }
}

/// What an engine makes of one picture.
package struct Masks: Sendable {
    /// Columns of every mask.
    package var width: Int
    /// Rows of every mask.
    package var height: Int
    /// What they were computed on, for people.
    package var deviceName: String
    /// The most likely class of each pixel, where asked for.
    package var categories: CategoryMask?
    /// The same at the picture's size, where asked for.
    package var pictureCategories: CategoryMask?
    /// One mask for each class asked for.
    package var confidences: [ConfidenceMask]?
    /// The raw output, where asked for.
    package var scores: ScoreMap?
    /// How long each step took.
    package var timings: Timings

    /// Creates a result.
    package init(
        width: Int, height: Int, deviceName: String, categories: CategoryMask? = nil,
        confidences: [ConfidenceMask]? = nil, scores: ScoreMap? = nil, timings: Timings
    ) {
        self.width = width
        self.height = height
        self.deviceName = deviceName
        self.categories = categories
        self.confidences = confidences
        self.scores = scores
        self.timings = timings
    }
}
