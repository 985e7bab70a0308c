import Synchronization

/// How long the wait for a frame may take before the device counts as lost.
///
/// Until a frame is done nobody knows how fast the device is. From then on a wait that takes many times as long as the
/// slowest one before it is a hang. The schedulers of one device share a timeout, as they wait for each other's frames.
package final class DeviceTimeout: Sendable {
    private let initial: UInt64
    private let minimum: UInt64
    // Signed: `max` of an unsigned atomic compares as if it were.
    private let slowest = Atomic<Int64>(0)
    /// As many frames as may be queued on a device before the one that is waited for, and more than a busy desktop adds.
    private static let factor: UInt64 = 10

    /// - Parameters:
    ///   - initial: Nanoseconds for all frames until the first is done: drivers that compile late, as llvmpipe does, compile then.
    ///   - minimum: Nanoseconds that a later frame is given however fast those before it were.
    package init(initial: UInt64 = 60_000_000_000, minimum: UInt64 = 10_000_000_000) {
        self.initial = initial
        self.minimum = minimum
    }

    /// Nanoseconds that a wait beginning now may take.
    package var nanoseconds: UInt64 {
        let slowest = UInt64(slowest.load(ordering: .relaxed))
        return slowest == 0 ? initial : max(minimum, slowest.multipliedClamped(by: Self.factor))
    }

    /// Runs a wait, and remembers how long it took where it came to a good end.
    func measure<Results>(_ wait: (_ nanoseconds: UInt64) throws -> Results) rethrows -> Results {
        // A clock that stands still while the machine sleeps, as the driver's does.
        let start = SuspendingClock.now
        let results = try wait(nanoseconds)
        note(UInt64((SuspendingClock.now - start) / .nanoseconds(1)))
        return results
    }

    /// Remembers how long a wait took.
    package func note(_ nanoseconds: UInt64) { slowest.max(Int64(clamping: max(1, nanoseconds)), ordering: .relaxed) }
}

extension UInt64 {
    fileprivate func multipliedClamped(by factor: UInt64) -> UInt64 {
        let (product, isTooLarge) = multipliedReportingOverflow(by: factor)
        return isTooLarge ? .max : product
    }
}
