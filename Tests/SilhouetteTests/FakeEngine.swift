import Dispatch
import Silhouette

/// An engine that runs a frame when the test says so, and marks its result with the frame's width.
final class FakeEngine: SegmentationEngine {
    let deviceName = "fake"
    private let begun = DispatchSemaphore(value: 0)
    private let permits = DispatchSemaphore(value: 0)
    private let isGated: Bool
    private let failingWidth: Int?

    /// - Parameters:
    ///   - isGated: Whether each frame waits for `allow()`.
    ///   - failingWidth: Frames of this width fail.
    init(isGated: Bool = true, failingWidth: Int? = nil) {
        self.isGated = isGated
        self.failingWidth = failingWidth
    }

    /// Waits until a frame is being processed.
    func waitForFrame() { begun.wait() }

    /// Lets a frame go on.
    func allow() { permits.signal() }

    func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks {
        if isGated {
            begun.signal()
            permits.wait()
        }
        if image.width == failingWidth { throw .inferenceFailed("as the test asked") }
        return Masks(
            width: image.width, height: 1, deviceName: deviceName,
            categories: CategoryMask(
                width: image.width, height: 1, categories: [UInt8](repeating: 1, count: image.width)),
            timings: Timings(preprocessMilliseconds: 1, inferenceMilliseconds: 2, postprocessMilliseconds: 3))
    }
}

/// Keeps what the delegate is told, and lets a test wait for it.
final class RecordingDelegate: ImageSegmenterLiveStreamDelegate {
    struct Report: Equatable {
        var timestamp: Int
        var width: Int?
        var error: ImageSegmenterError?
    }

    let reports: AsyncStream<Report>
    private let continuation: AsyncStream<Report>.Continuation

    init() { (reports, continuation) = AsyncStream.makeStream() }

    func imageSegmenter(
        _ imageSegmenter: ImageSegmenter, didFinishSegmentation result: ImageSegmenterResult?,
        timestampInMilliseconds: Int, error: (any Error)?
    ) {
        continuation.yield(
            Report(timestamp: timestampInMilliseconds, width: result?.width, error: error as? ImageSegmenterError))
    }
}

/// A picture that can be told apart by its width.
func frame(width: Int) throws -> Image {
    try Image(width: width, height: 1, format: .rgb, bytes: [UInt8](repeating: 0, count: 3 * width))
}
