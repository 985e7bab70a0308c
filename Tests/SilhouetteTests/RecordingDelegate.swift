import Silhouette

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
