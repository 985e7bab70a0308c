import Base

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
package final class FrameScheduler<Slot: SchedulerSlot>: @unchecked Sendable {
    /// Frames that can be inside at a time.
    package let slotCount: Int
    private let timeLimit: DeviceTimeout
    private let makeSlot: @Sendable () throws -> Slot
    private let state: Locked<State>

    private struct State {
        var queue: FrameQueue
        var slots: [Slot?]
        var failure: (any Error)?

        func check() throws { if let failure { throw failure } }

        /// What can be done for a new frame now. Nil: something must change first.
        mutating func admit() throws -> Admission? {
            try check()
            if let accepted = queue.accept() { return .accepted(accepted.ticket, slot: accepted.slot) }
            return queue.takeDropped().map { .dropped(slot: $0) }
        }

        /// Hands the device what is staged. A failure is kept: the frame that is being collected has come through.
        mutating func submitStaged() {
            while failure == nil, let index = queue.submitNext() {
                do { try slots[index]?.submit() } catch { failure = error }
            }
        }
    }

    private enum Admission {
        case accepted(FrameTicket, slot: Int)
        /// The oldest frame was cancelled while the device had it, so nobody else will wait for it.
        case dropped(slot: Int)
    }

    private enum Collection {
        case ready(slot: Int), dropped(slot: Int), gone
    }

    /// - Parameters:
    ///   - slotCount: Frames that can be inside at a time.
    ///   - maxFramesInFlight: Frames that the device is given at a time. Two keep it busy; frames beyond them can be cancelled before
    ///     they cost anything.
    ///   - timeLimit: Shared by all schedulers of a device.
    ///   - makeSlot: Makes a slot, on the thread that needs it.
    package init(
        slotCount: Int = 3, maxFramesInFlight: Int = 2, timeLimit: DeviceTimeout = DeviceTimeout(),
        makeSlot: @escaping @Sendable () throws -> Slot
    ) {
        self.slotCount = slotCount
        self.timeLimit = timeLimit
        self.makeSlot = makeSlot
        state = Locked(
            State(
                queue: FrameQueue(slotCount: slotCount, maxFramesInFlight: maxFramesInFlight),
                slots: [Slot?](repeating: nil, count: slotCount)))
    }

    /// Why the scheduler is of no further use; nil while it is.
    package var failure: (any Error)? { state.withLock { $0.failure } }

    /// Accepts a frame, and waits for a free slot where there is none.
    ///
    /// Who waits here relies on another thread to collect the frames before.
    package func submit(_ picture: Slot.Picture) throws -> FrameTicket {
        while true {
            switch try state.wait({ try $0.admit() }) {
            case .accepted(let ticket, let slot): return try stage(picture, ticket, slot)
            case .dropped(let slot): finishDropped(slot)
            }
        }
    }

    /// Accepts a frame, or gives nil where every slot is taken by a frame whose result is still wanted.
    ///
    /// It waits for nothing but the device's last word on frames that were cancelled.
    package func submitIfFree(_ picture: Slot.Picture) throws -> FrameTicket? {
        while let admission = try state.withLock({ try $0.admit() }) {
            switch admission {
            case .accepted(let ticket, let slot): return try stage(picture, ticket, slot)
            case .dropped(let slot): finishDropped(slot)
            }
        }
        return nil
    }

    /// Cancels a frame: one that the device has not been given is never run, the result of any other is dropped.
    ///
    /// Frames after it are not affected. Who waits for its result gets nil.
    @discardableResult
    package func cancel(_ ticket: FrameTicket) -> Cancellation { state.update { $0.queue.cancel(ticket) } }

    /// Waits for the results of all frames before, and for the frame itself; then lets `body` read its results.
    ///
    /// - Returns: What `body` returns; nil where the frame was cancelled or its results were given out before.
    package func collect<Output>(_ ticket: FrameTicket, _ body: (Slot.Results) throws -> Output) throws -> Output? {
        while true {
            let collection = try state.wait { state throws -> Collection? in
                try state.check()
                switch state.queue.take(ticket) {
                case .gone: return .gone
                case .ready(let slot): return .ready(slot: slot)
                case .later: return state.queue.takeDropped().map { .dropped(slot: $0) }
                }
            }
            switch collection {
            case .gone: return nil
            case .dropped(let slot): finishDropped(slot)
            case .ready(let slot):
                let results = try finish(slot)
                defer { state.update { $0.queue.release() } }
                return try body(results)
            }
        }
    }

    /// Waits for the oldest frame whose result nobody has and lets `body` read it; nil where there is none.
    package func collectNext<Output>(_ body: (FrameTicket, Slot.Results) throws -> Output) throws -> Output? {
        while let ticket = state.withLock({ $0.queue.oldestWanted }) {
            // Nil: another thread was faster, or cancelled it.
            if let output = try collect(ticket, { try body(ticket, $0) }) { return output }
        }
        return nil
    }

    private func stage(_ picture: Slot.Picture, _ ticket: FrameTicket, _ index: Int) throws -> FrameTicket {
        do {
            let slot = try state.withLock { $0.slots[index] } ?? makeSlot()
            try slot.stage(picture)
            try state.update { state in
                state.slots[index] = slot
                try state.check()
                state.queue.staged(ticket)
                state.submitStaged()
                try state.check()
            }
            return ticket
        } catch {
            throw fail(error)
        }
    }

    /// Waits, without the lock, until the device is done with the oldest frame; then gives it what is staged.
    private func finish(_ index: Int) throws -> Slot.Results {
        // A frame was submitted, so its slot exists.
        let slot = state.withLock { $0.slots[index]! }
        do {
            let results = try timeLimit.measure(slot.results)
            state.update { state in
                state.queue.completed()
                state.submitStaged()
            }
            return results
        } catch {
            fail(error)
            throw error
        }
    }

    /// Waits for a frame that was cancelled. A failure is kept, and thrown by whatever comes next.
    private func finishDropped(_ index: Int) {
        if (try? finish(index)) != nil { state.update { $0.queue.release() } }
    }

    /// Keeps the first failure, and wakes all who wait.
    ///
    /// - Returns: The first failure.
    @discardableResult
    private func fail(_ error: any Error) -> any Error {
        state.update { state in
            let first = state.failure ?? error
            state.failure = first
            return first
        }
    }
}
