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

    /// Segments one picture that can wait, with the same result.
    func segment(
        _ image: Image, _ request: MaskRequest, inBackground work: BackgroundWork
    ) throws(ImageSegmenterError) -> Masks

    /// Draws pictures on what the engine runs on.
    var drawer: any PictureDrawer { get }
}

extension SegmentationEngine {
    package var drawer: any PictureDrawer { ProcessorDrawer() }
    package var deviceFailure: String? { nil }
    package var deviceTuning: String? { nil }

    /// All of it while it has the device.
    package func segment(
        _ image: Image, _ request: MaskRequest, inBackground work: BackgroundWork
    ) throws(ImageSegmenterError) -> Masks {
        try work.callOnDevice { () throws(ImageSegmenterError) in try segment(image, request) }
    }
}

/// How a picture that can wait is computed beside others that cannot.
package struct BackgroundWork {
    private let onDevice: (() -> Void) -> Void
    private let inBackground: (() -> Void) -> Void

    /// - Parameters:
    ///   - onDevice: Waits until it has the device, then calls its argument, once.
    ///   - inBackground: Calls its argument, which does without the device, once, so that it takes little time from others.
    package init(onDevice: @escaping (() -> Void) -> Void, inBackground: @escaping (() -> Void) -> Void) {
        self.onDevice = onDevice
        self.inBackground = inBackground
    }

    func callOnDevice<Value>(
        _ body: () throws(ImageSegmenterError) -> Value
    ) throws(ImageSegmenterError) -> Value {
        var outcome: Result<Value, ImageSegmenterError>?
        onDevice { outcome = Result { () throws(ImageSegmenterError) in try body() } }
        guard let outcome else { preconditionFailure("the device was not had") }
        return try outcome.get()
    }

    func callInBackground<Value>(_ body: () -> Value) -> Value {
        var value: Value?
        inBackground { value = body() }
        guard let value else { preconditionFailure("the work was not done") }
        return value
    }
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
    /// How surely each place belongs to the subject, where asked for.
    package var subject: SubjectMap?
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
