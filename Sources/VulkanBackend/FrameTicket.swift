/// A frame that a scheduler has accepted.
public struct FrameTicket: Hashable, Sendable, Comparable {
    /// Position among all frames of the scheduler, from 0.
    public let number: UInt64

    /// Whether one frame was accepted before another.
    public static func < (a: FrameTicket, b: FrameTicket) -> Bool { a.number < b.number }
}

/// What became of a frame that was cancelled.
public enum Cancellation: Sendable, Hashable {
    /// The device had not been given it, and never will be.
    case neverRun
    /// The device had it already; its result is dropped when it is done.
    case dropped
    /// Its result is given out or has been, or it was cancelled before: nothing has changed.
    case tooLate
}

/// How long a frame may take before the device counts as lost.
public struct FrameTimeLimit: Sendable {
    /// For all frames until the first is done: drivers that compile late, as llvmpipe does, compile then.
    public var firstNanoseconds: UInt64
    /// For all frames after that.
    public var laterNanoseconds: UInt64

    /// Creates a limit.
    public init(firstNanoseconds: UInt64 = 60_000_000_000, laterNanoseconds: UInt64 = 10_000_000_000) {
        self.firstNanoseconds = firstNanoseconds
        self.laterNanoseconds = laterNanoseconds
    }
}
