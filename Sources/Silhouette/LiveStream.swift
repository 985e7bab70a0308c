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

/// Timestamps of frames, each of which has to be later than the one before.
///
/// A pure value without threads.
struct FrameClock {
    private var last: Int?

    /// Accepts the next timestamp.
    ///
    /// - Throws: `timestampNotIncreasing`, and then nothing has changed.
    mutating func accept(_ timestamp: Int) throws(ImageSegmenterError) {
        if let last, timestamp <= last {
            throw .timestampNotIncreasing(timestampInMilliseconds: timestamp, lastTimestampInMilliseconds: last)
        }
        last = timestamp
    }
}

/// Where frames wait for the network: room for one, the newest.
///
/// A pure value without threads, so that its rules can be tested alone.
package struct FrameMailbox<Frame> {
    /// Frames that were replaced by a newer one before the network was free.
    package private(set) var droppedFrameCount = 0
    private var clock = FrameClock()
    private var waiting: (frame: Frame, timestamp: Int)?
    private var isBusy = false

    /// Creates an empty mailbox.
    package init() {}

    /// Accepts a frame, in place of the one that waits.
    ///
    /// - Returns: Whether the receiver sleeps and must be woken.
    /// - Throws: `timestampNotIncreasing`, and then nothing has changed.
    package mutating func post(_ frame: Frame, timestamp: Int) throws(ImageSegmenterError) -> Bool {
        try clock.accept(timestamp)
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
