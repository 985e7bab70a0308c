/// Where frames wait for the network: room for one, the newest.
///
/// A pure value without threads, so that its rules can be tested alone.
package struct NewestMailbox<Frame> {
    /// Frames that were replaced by a newer one before the network was free.
    package private(set) var droppedFrameCount = 0
    private var order = TimestampOrder()
    private var waiting: (frame: Frame, timestamp: Int)?
    private var isBusy = false

    /// Creates an empty mailbox.
    package init() {}

    /// Accepts a frame, in place of the one that waits.
    ///
    /// - Returns: Whether the receiver sleeps and must be woken.
    /// - Throws: `timestampNotIncreasing`, and then nothing has changed.
    package mutating func post(_ frame: Frame, timestamp: Int) throws(ImageSegmenterError) -> Bool {
        try order.accept(timestamp)
        if waiting != nil { droppedFrameCount += 1 }
        waiting = (frame, timestamp)
        defer { isBusy = true }
        return !isBusy
    }

    /// Drops the frame that waits, uncounted: its receiver could not be woken. The next `post` wakes it again.
    package mutating func giveUp() {
        waiting = nil
        isBusy = false
    }

    /// The frame to run next. Nil: there is none, and the receiver sleeps until `post` wakes it.
    package mutating func take() -> (frame: Frame, timestamp: Int)? {
        defer { waiting = nil }
        isBusy = waiting != nil
        return waiting
    }
}
