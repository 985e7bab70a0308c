/// The rules of a frame scheduler: which frame has which slot, which is submitted next, whose result is given out next.
///
/// A pure value without threads or devices, so that its rules can be tested alone. Frames leave in the order in which they
/// came; cancelled ones leave without a result.
///
///     accept ─→ staging ─→ staged ─→ submitted ─→ collecting ─→ gone, slot free
///                  cancelled: never submitted │ result dropped
struct FrameQueue {
    private enum Phase { case staging, staged, submitted, collecting }

    private struct Frame {
        var slot = 0
        var phase = Phase.staging
        var isCancelled = false
    }

    /// Whose turn it is when a result is asked for.
    enum Turn: Equatable {
        /// This slot's frame is the oldest: its result may be waited for.
        case ready(slot: Int)
        /// Earlier frames come first, or the frame has not been submitted.
        case later
        /// The frame was cancelled, or its result was given out.
        case gone
    }

    /// Frames by ticket number, modulo the number of slots.
    private var frames: [Frame]
    private var isFree: [Bool]
    private let maxFramesInFlight: Int
    private var oldest: UInt64 = 0
    private var next: UInt64 = 0
    private var submittedCount = 0

    /// - Parameters:
    ///   - slotCount: Frames that are inside at a time.
    ///   - maxFramesInFlight: Frames that the device has at a time. Two keep it busy; a frame beyond them can be cancelled at no cost.
    init(slotCount: Int, maxFramesInFlight: Int) {
        precondition(slotCount > 0 && maxFramesInFlight > 0)
        frames = [Frame](repeating: Frame(), count: slotCount)
        isFree = [Bool](repeating: true, count: slotCount)
        self.maxFramesInFlight = maxFramesInFlight
    }

    private func position(_ number: UInt64) -> Int { Int(number % UInt64(frames.count)) }

    /// Frames that have been accepted and not left.
    var frameCount: Int { Int(next - oldest) }

    /// The oldest frame whose result is still wanted and not being given out.
    var oldestWanted: FrameTicket? {
        for number in oldest..<next {
            let frame = frames[position(number)]
            if !frame.isCancelled && frame.phase != .collecting { return FrameTicket(number: number) }
        }
        return nil
    }

    /// Gives a new frame a ticket and the free slot of the lowest number; nil where there is none.
    mutating func accept() -> (ticket: FrameTicket, slot: Int)? {
        guard frameCount < frames.count, let slot = isFree.firstIndex(of: true) else { return nil }
        isFree[slot] = false
        frames[position(next)] = Frame(slot: slot)
        defer { next += 1 }
        return (FrameTicket(number: next), slot)
    }

    /// Notes that a frame's picture lies in its slot.
    mutating func staged(_ ticket: FrameTicket) {
        frames[position(ticket.number)].phase = .staged
        forgetNeverRun()
    }

    /// The slot to submit now, in the order of the tickets; nil where none is staged or the device has enough.
    mutating func submitNext() -> Int? {
        guard submittedCount < maxFramesInFlight else { return nil }
        for number in oldest..<next {
            let index = position(number)
            switch frames[index].phase {
            case .submitted, .collecting: continue
            case .staging: return nil
            case .staged:
                if frames[index].isCancelled { continue }
                frames[index].phase = .submitted
                submittedCount += 1
                return frames[index].slot
            }
        }
        return nil
    }

    mutating func cancel(_ ticket: FrameTicket) -> Cancellation {
        guard ticket.number >= oldest, ticket.number < next else { return .tooLate }
        let index = position(ticket.number)
        guard !frames[index].isCancelled, frames[index].phase != .collecting else { return .tooLate }
        frames[index].isCancelled = true
        guard frames[index].phase != .submitted else { return .dropped }
        forgetNeverRun()
        return .neverRun
    }

    /// Asks for the result of a frame; after `.ready` the frame is being collected.
    mutating func take(_ ticket: FrameTicket) -> Turn {
        guard ticket.number >= oldest, ticket.number < next else { return .gone }
        let index = position(ticket.number)
        let frame = frames[index]
        if frame.isCancelled || frame.phase == .collecting { return .gone }
        guard ticket.number == oldest, frame.phase == .submitted else { return .later }
        frames[index].phase = .collecting
        return .ready(slot: frame.slot)
    }

    /// The slot of the oldest frame where that was cancelled while the device had it: somebody must wait for it.
    mutating func takeDropped() -> Int? {
        guard oldest < next else { return nil }
        let index = position(oldest)
        guard frames[index].isCancelled, frames[index].phase == .submitted else { return nil }
        frames[index].phase = .collecting
        return frames[index].slot
    }

    /// Notes that the device is done with the oldest frame.
    mutating func completed() { submittedCount -= 1 }

    /// Notes that the result of the oldest frame has been read: its slot is free.
    mutating func release() {
        precondition(oldest < next && frames[position(oldest)].phase == .collecting, "nothing is being collected")
        leave()
        forgetNeverRun()
    }

    private mutating func leave() {
        isFree[frames[position(oldest)].slot] = true
        oldest += 1
    }

    /// Lets cancelled frames go that the device has never had, once it is their turn.
    private mutating func forgetNeverRun() {
        while oldest < next, frames[position(oldest)].isCancelled, frames[position(oldest)].phase == .staged { leave() }
    }
}
