/// A frame that a scheduler has accepted.
package struct FrameTicket: Hashable, Sendable, Comparable {
    /// Position among all frames of the scheduler, from 0.
    package let number: UInt64

    package static func < (a: FrameTicket, b: FrameTicket) -> Bool { a.number < b.number }
}

/// What became of a frame that was cancelled.
package enum Cancellation: Sendable, Hashable {
    /// The device had not been given it, and never will be.
    case neverRun
    /// The device had it already; its result is dropped when it is done.
    case dropped
    /// Its result is given out or has been, or it was cancelled before: nothing has changed.
    case tooLate
}
