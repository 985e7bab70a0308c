import VulkanImaging
import Base
import Dispatch

/// A device that only notes what is asked of it, and gives each frame's picture back as its result.
final class FakeDevice: Sendable {
    /// What a slot was asked to do, with the frame's picture.
    enum Event: Hashable, Sendable {
        case made(slot: Int)
        case staged(Int, slot: Int)
        case submitted(Int)
        case waited(Int)
    }

    struct Failure: Error, Equatable { var what: String }

    private struct State {
        var events: [Event] = []
        var slotCount = 0
        var faults: Set<Event> = []
        var limits: [UInt64] = []
    }

    private let state = Locked(State())
    /// Where there is one, each wait for a frame takes a permit.
    let permits: DispatchSemaphore?

    /// A picture that takes long to stage: until `isStaged` is signalled.
    let slowPicture: Int?
    let isStaged = DispatchSemaphore(value: 0)

    init(isGated: Bool = false, slowPicture: Int? = nil) {
        permits = isGated ? DispatchSemaphore(value: 0) : nil
        self.slowPicture = slowPicture
    }

    var events: [Event] { state.withLock(\.events) }
    var timeLimits: [UInt64] { state.withLock(\.limits) }

    /// Makes an event fail.
    func fail(at event: Event) { state.withLock { _ = $0.faults.insert(event) } }

    func makeSlot() throws -> FakeSlot {
        let number = state.withLock { state in
            defer { state.slotCount += 1 }
            return state.slotCount
        }
        try note(.made(slot: number))
        return FakeSlot(self, number)
    }

    func note(_ event: Event, limit: UInt64? = nil) throws {
        let fails = state.withLock { state in
            state.events.append(event)
            if let limit { state.limits.append(limit) }
            return state.faults.contains(event)
        }
        if fails { throw Failure(what: "\(event)") }
    }
}

final class FakeSlot: SchedulerSlot, @unchecked Sendable {
    private let device: FakeDevice
    private let number: Int
    private var picture = -1

    init(_ device: FakeDevice, _ number: Int) {
        self.device = device
        self.number = number
    }

    func stage(_ picture: Int) throws {
        self.picture = picture
        try device.note(.staged(picture, slot: number))
        if picture == device.slowPicture { device.isStaged.wait() }
    }

    func submit() throws { try device.note(.submitted(picture)) }

    func results(within nanoseconds: UInt64) throws -> Int {
        device.permits?.wait()
        try device.note(.waited(picture), limit: nanoseconds)
        return picture
    }
}
