/// Keeps several frames on the way through a device: while it computes one, the next is staged and the one before is read.
///
///     stage    | n+1 |     | n+2 |
///     device   | n         | n+1       | n+2
///     read           | n-1 |     | n   |
///
/// A frame gets a ticket when it is accepted; results are given out in the order of the tickets. There is no thread inside:
/// the callers' threads stage, submit and wait, so one thread that calls `submit` and `collect` in turn is as good as two.
/// Nothing is allocated per frame: slots are made when so many frames are inside for the first time, and kept.
///
/// When a slot fails, everything that is inside has failed, and so has every later frame: the device is of no further use,
/// and no result of it may be trusted. All calls then throw what was thrown first.
public final class FrameScheduler<Slot: SchedulerSlot>: @unchecked Sendable {
    /// Frames that can be inside at a time.
    public let slotCount: Int
    private let timeLimit: FrameTimeLimit
    private let makeSlot: @Sendable () throws -> Slot
    private let monitor = Monitor()

    // Guarded by the monitor.
    private var queue: FrameQueue
    private var slots: [Slot?]
    private var firstFailure: (any Error)?

    /// Creates a scheduler without slots.
    ///
    /// - Parameters:
    ///   - slotCount: Frames that can be inside at a time.
    ///   - aheadCount: Frames that the device is given at a time. Two keep it busy; frames beyond them can be cancelled before
    ///     they cost anything.
    ///   - timeLimit: Shared by all schedulers of a device.
    ///   - makeSlot: Makes a slot, on the thread that needs it.
    public init(
        slotCount: Int = 3, aheadCount: Int = 2, timeLimit: FrameTimeLimit = FrameTimeLimit(),
        makeSlot: @escaping @Sendable () throws -> Slot
    ) {
        self.slotCount = slotCount
        self.timeLimit = timeLimit
        self.makeSlot = makeSlot
        queue = FrameQueue(slotCount: slotCount, aheadCount: aheadCount)
        slots = [Slot?](repeating: nil, count: slotCount)
    }

    /// Why the scheduler is of no further use; nil while it is.
    public var failure: (any Error)? { monitor.withLock { firstFailure } }

    /// Accepts a frame, and waits for a free slot where there is none.
    ///
    /// Who waits here relies on another thread to collect the frames before.
    public func submit(_ picture: Slot.Picture) throws -> FrameTicket {
        monitor.lock()
        while true {
            try unlockAndThrowFailure()
            if let accepted = queue.accept() {
                monitor.unlock()
                return try stage(picture, accepted.ticket, accepted.slot)
            }
            if !waitForDropped() { monitor.wait() }
        }
    }

    /// Accepts a frame, or gives nil where every slot is taken by a frame whose result is still wanted.
    ///
    /// It waits for nothing but the device's last word on frames that were cancelled.
    public func submitIfFree(_ picture: Slot.Picture) throws -> FrameTicket? {
        monitor.lock()
        while true {
            try unlockAndThrowFailure()
            if let accepted = queue.accept() {
                monitor.unlock()
                return try stage(picture, accepted.ticket, accepted.slot)
            }
            if !waitForDropped() {
                monitor.unlock()
                return nil
            }
        }
    }

    /// Cancels a frame: one that the device has not been given is never run, the result of any other is dropped.
    ///
    /// Frames after it are not affected. Who waits for its result gets nil.
    @discardableResult
    public func cancel(_ ticket: FrameTicket) -> Cancellation {
        monitor.withLock {
            let outcome = queue.cancel(ticket)
            monitor.ring()
            return outcome
        }
    }

    /// Waits for the results of all frames before, and for the frame itself; then lets `body` read its results.
    ///
    /// - Returns: What `body` returns; nil where the frame was cancelled or its results were given out before.
    public func collect<Output>(_ ticket: FrameTicket, _ body: (Slot.Results) throws -> Output) throws -> Output? {
        monitor.lock()
        while true {
            try unlockAndThrowFailure()
            switch queue.take(ticket) {
            case .gone:
                monitor.unlock()
                return nil
            case .ready(let index):
                let results = try finish(index)
                monitor.unlock()
                defer {
                    monitor.withLock {
                        queue.release()
                        monitor.ring()
                    }
                }
                return try body(results)
            case .later: if !waitForDropped() { monitor.wait() }
            }
        }
    }

    /// Waits for the oldest frame whose result nobody has and lets `body` read it; nil where there is none.
    public func collectNext<Output>(_ body: (FrameTicket, Slot.Results) throws -> Output) throws -> Output? {
        while let ticket = monitor.withLock({ queue.oldestWanted }) {
            // Nil: another thread was faster, or cancelled it.
            if let output = try collect(ticket, { try body(ticket, $0) }) { return output }
        }
        return nil
    }

    private func stage(_ picture: Slot.Picture, _ ticket: FrameTicket, _ index: Int) throws -> FrameTicket {
        do {
            let made = monitor.withLock { slots[index] }
            let slot = try made ?? makeSlot()
            try slot.stage(picture)
            monitor.lock()
            slots[index] = slot
        } catch {
            monitor.lock()
            fail(error)
            try unlockAndThrowFailure()
        }
        queue.staged(ticket)
        submitStaged()
        try unlockAndThrowFailure()
        monitor.ring()
        monitor.unlock()
        return ticket
    }

    /// Waits, without the lock, until the device is done with the oldest frame; then gives it what is staged.
    private func finish(_ index: Int) throws -> Slot.Results {
        // A frame was submitted, so its slot exists.
        let slot = slots[index]!
        monitor.unlock()
        let outcome = Result { try timeLimit.measure(slot.results) }
        monitor.lock()
        switch outcome {
        case .success(let results):
            queue.completed()
            submitStaged()
            monitor.ring()
            return results
        case .failure(let error):
            fail(error)
            monitor.unlock()
            throw error
        }
    }

    /// Waits for the oldest frame where nobody else will, as it was cancelled.
    ///
    /// - Returns: Whether there was such a frame.
    private func waitForDropped() -> Bool {
        guard let index = queue.takeDropped() else { return false }
        if (try? finish(index)) != nil {
            queue.release()
            monitor.ring()
        } else {
            // The lock was given away with the error, which `failure` has kept.
            monitor.lock()
        }
        return true
    }

    /// Hands the device what is staged. A failure is kept: the frame that is being collected has come through.
    private func submitStaged() {
        while firstFailure == nil, let index = queue.submitNext() {
            do {
                try slots[index]?.submit()
            } catch {
                fail(error)
            }
        }
    }

    private func fail(_ error: any Error) {
        if firstFailure == nil { firstFailure = error }
        monitor.ring()
    }

    private func unlockAndThrowFailure() throws {
        guard let firstFailure else { return }
        monitor.unlock()
        throw firstFailure
    }
}
