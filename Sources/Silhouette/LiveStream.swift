/// Receives the results of a live stream.
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

/// Where frames wait for the network: room for one, the newest.
///
/// A pure value without threads, so that its rules can be tested alone.
package struct FrameMailbox<Frame> {
    /// Frames that were replaced by a newer one before the network was free.
    package private(set) var droppedFrameCount = 0
    private var lastTimestamp: Int?
    private var waiting: (frame: Frame, timestamp: Int)?
    private var isBusy = false

    /// Creates an empty mailbox.
    package init() {}

    /// Accepts a frame, in place of the one that waits.
    ///
    /// - Returns: Whether the receiver sleeps and must be woken.
    /// - Throws: `timestampNotIncreasing`, and then nothing has changed.
    package mutating func post(_ frame: Frame, timestamp: Int) throws(ImageSegmenterError) -> Bool {
        if let lastTimestamp, timestamp <= lastTimestamp {
            throw .timestampNotIncreasing(
                timestampInMilliseconds: timestamp, lastTimestampInMilliseconds: lastTimestamp)
        }
        lastTimestamp = timestamp
        if waiting != nil { droppedFrameCount += 1 }
        waiting = (frame, timestamp)
        defer { isBusy = true }
        return !isBusy
    }

    /// The frame to run next. Nil: there is none, and the receiver sleeps until `post` wakes it.
    package mutating func take() -> (frame: Frame, timestamp: Int)? {
        defer { waiting = nil }
        isBusy = waiting != nil
        return waiting
    }
}
