import Dispatch
import Silhouette

/// An engine that runs a frame when the test says so; its masks are as wide as the frame and one row high.
package final class FakeEngine: SegmentationEngine {
    package let deviceName = "fake"
    private let begun = DispatchSemaphore(value: 0)
    private let permits = DispatchSemaphore(value: 0)
    private let isGated: Bool
    private let failingWidth: Int?

    /// - Parameters:
    ///   - isGated: Whether each frame waits for `allow()`.
    ///   - failingWidth: Frames of this width fail.
    package init(isGated: Bool = true, failingWidth: Int? = nil) {
        self.isGated = isGated
        self.failingWidth = failingWidth
    }

    /// Waits until a frame is in the network.
    package func waitForFrame() { begun.wait() }

    /// Lets frames go on.
    package func allow(_ count: Int = 1) { for _ in 0..<count { permits.signal() } }

    package func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks {
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
