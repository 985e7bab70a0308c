/// Receives the results of a live stream. The shape is that of MediaPipe's protocol.
///
/// A segmenter holds its delegate weakly. A frame that is being processed, or waits, keeps the segmenter alive until it has been
/// reported; after that a segmenter that nobody else holds is gone, and calls nobody.
public protocol ImageSegmenterLiveStreamDelegate: AnyObject, Sendable {
    /// Tells the outcome of a frame.
    ///
    /// Called from a thread of the segmenter's, one call at a time, in the order of the timestamps. Frames that were
    /// dropped are not reported; `ImageSegmenter.droppedFrameCount` counts them.
    ///
    /// - Parameters:
    ///   - result: The masks. Nil where the frame failed.
    ///   - error: Why the frame failed.
    func imageSegmenter(
        _ imageSegmenter: ImageSegmenter, didFinishSegmentation result: ImageSegmenterResult?,
        timestampInMilliseconds: Int, error: (any Error)?)
}

/// The outcome of one frame of a live stream.
public struct LiveStreamResult: Sendable {
    /// The frame's timestamp.
    public let timestampInMilliseconds: Int
    /// The masks, or why there are none.
    public let result: Result<ImageSegmenterResult, ImageSegmenterError>
    /// Frames dropped since the stream began.
    public let droppedFrameCount: Int
}
