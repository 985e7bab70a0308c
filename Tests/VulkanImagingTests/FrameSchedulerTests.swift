import VulkanImaging
import Base
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("Frame scheduler on a fake device")
struct FrameSchedulerTests {
    private typealias Scheduler = FrameScheduler<FakeSlot>

    private func scheduler(_ device: FakeDevice, slots: Int = 3, ahead: Int = 2) -> Scheduler {
        Scheduler(slotCount: slots, maxFramesInFlight: ahead) { try device.makeSlot() }
    }

    private func next(_ scheduler: Scheduler) throws -> Int? { try scheduler.collectNext { $1 } }

    @Test("One frame at a time needs one slot")
    func sequential() throws {
        let device = FakeDevice()
        let scheduler = scheduler(device)
        for picture in 0..<4 {
            let ticket = try scheduler.submit(picture)
            #expect(try scheduler.collect(ticket) { $0 } == picture)
        }
        #expect(device.events.filter { if case .made = $0 { true } else { false } } == [.made(slot: 0)])
        #expect(try next(scheduler) == nil)
    }

    @Test("The device has two frames, the third waits in its slot, a fourth is refused")
    func backPressure() throws {
        let device = FakeDevice()
        let scheduler = scheduler(device)
        for picture in 0..<3 { #expect(try scheduler.submitIfFree(picture) != nil) }
        #expect(try scheduler.submitIfFree(3) == nil)
        #expect(device.events.suffix(1) == [.staged(2, slot: 2)])
        #expect(try next(scheduler) == 0)
        #expect(device.events.suffix(2) == [.waited(0), .submitted(2)])
        #expect(try scheduler.submitIfFree(3) != nil)
        #expect(device.events.suffix(1) == [.staged(3, slot: 0)])
        #expect(try (1...3).map { _ in try next(scheduler) } == [1, 2, 3])
    }

    @Test("While a result is read the next frame is on the device, but its slot is not given away")
    func reading() throws {
        let device = FakeDevice()
        let scheduler = scheduler(device, slots: 1, ahead: 1)
        _ = try scheduler.submit(0)
        _ = try scheduler.collectNext { (_, picture) throws in
            #expect(picture == 0)
            #expect(try scheduler.submitIfFree(1) == nil)
        }
        #expect(try scheduler.submitIfFree(1) != nil)
    }

    @Test("A frame that is cancelled before the device has it is never run")
    func cancelledBefore() throws {
        let device = FakeDevice()
        let scheduler = scheduler(device)
        let tickets = try (0..<3).map { try scheduler.submit($0) }
        #expect(scheduler.cancel(tickets[2]) == .neverRun)
        #expect(scheduler.cancel(tickets[2]) == .tooLate)
        #expect(try next(scheduler) == 0)
        _ = try scheduler.submit(3)
        #expect(try [next(scheduler), next(scheduler), next(scheduler)] == [1, 3, nil])
        #expect(!device.events.contains(.submitted(2)))
        #expect(try scheduler.collect(tickets[2]) { $0 } == nil)
    }

    @Test("A frame that is cancelled on the device gives no result, and the others keep their order")
    func cancelledAfter() throws {
        let device = FakeDevice()
        let scheduler = scheduler(device)
        let tickets = try (0..<3).map { try scheduler.submit($0) }
        #expect(scheduler.cancel(tickets[0]) == .dropped)
        #expect(try next(scheduler) == 1)
        // It was waited for all the same: its slot is used again only when the device is done with it.
        #expect(device.events.contains(.waited(0)))
        _ = try scheduler.submit(3)
        #expect(try [next(scheduler), next(scheduler), next(scheduler)] == [2, 3, nil])
        #expect(scheduler.cancel(tickets[1]) == .tooLate)
    }

    @Test("A full scheduler of cancelled frames makes room by itself")
    func cancelledAll() throws {
        let device = FakeDevice()
        let scheduler = scheduler(device)
        for round in 0..<3 {
            let tickets = try (0..<3).map { try scheduler.submit(10 * round + $0) }
            #expect(tickets.map(scheduler.cancel) == [.dropped, .dropped, .neverRun])
        }
        #expect(try scheduler.submitIfFree(99) != nil)
        #expect(try next(scheduler) == 99)
        #expect(try next(scheduler) == nil)
    }

    @Test("A result is given out once")
    func once() throws {
        let scheduler = scheduler(FakeDevice())
        let ticket = try scheduler.submit(7)
        #expect(try scheduler.collect(ticket) { $0 } == 7)
        #expect(try scheduler.collect(ticket) { $0 } == nil)
    }

    @Test("What the reader throws passes through, and harms no other frame")
    func readerFails() throws {
        let scheduler = scheduler(FakeDevice())
        for picture in 0..<2 { _ = try scheduler.submit(picture) }
        #expect(throws: FakeDevice.Failure(what: "reader")) {
            try scheduler.collectNext { _, _ in throw FakeDevice.Failure(what: "reader") }
        }
        #expect(try next(scheduler) == 1)
        #expect(scheduler.failure == nil)
    }

    @Test("Until a frame is done the first time limit counts, then one that goes by the slowest")
    func timeLimits() throws {
        let device = FakeDevice()
        let limit = DeviceTimeout(initial: 60_000_000_000, minimum: 10_000_000_000)
        let scheduler = Scheduler(timeLimit: limit) { try device.makeSlot() }
        for picture in 0..<3 {
            if picture == 2 { limit.note(7_000_000_000) }
            _ = try scheduler.submit(picture)
            _ = try next(scheduler)
        }
        #expect(device.timeLimits == [60_000_000_000, 10_000_000_000, 70_000_000_000])
        // However long a wait was, the next limit can be counted.
        let endless = DeviceTimeout(initial: 1, minimum: 1)
        endless.note(.max)
        #expect(endless.nanoseconds == .max)
    }

    @Test("A wait that failed says nothing about the device's speed")
    func failedWait() throws {
        let device = FakeDevice()
        let limit = DeviceTimeout(initial: 60, minimum: 10)
        let scheduler = Scheduler(timeLimit: limit) { try device.makeSlot() }
        device.fail(at: .waited(0))
        _ = try scheduler.submit(0)
        #expect(throws: FakeDevice.Failure.self) { try next(scheduler) }
        #expect(limit.nanoseconds == 60)
    }

    @Test(
        "A failure ends everything that is inside and all that comes later",
        arguments: [
            FakeDevice.Event.made(slot: 1), .staged(1, slot: 1), .submitted(1), .submitted(2), .waited(0), .waited(1),
        ])
    func failure(event: FakeDevice.Event) throws {
        let device = FakeDevice()
        let scheduler = scheduler(device)
        device.fail(at: event)
        let expected = FakeDevice.Failure(what: "\(event)")
        var results: [Int] = []
        #expect(throws: expected) {
            for picture in 0..<3 { _ = try scheduler.submit(picture) }
            while let result = try next(scheduler) { results.append(result) }
        }
        // Whatever came out before the failure is right; nothing comes out afterwards.
        #expect(results == Array(0..<results.count))
        let count = device.events.count
        #expect(throws: expected) { try scheduler.submit(9) }
        #expect(throws: expected) { try scheduler.submitIfFree(9) }
        #expect(throws: expected) { try next(scheduler) ?? -1 }
        #expect(device.events.count == count)
        #expect(scheduler.failure as? FakeDevice.Failure == expected)
    }

    @Test("Who waits for a slot gets it when a result has been read")
    func blocking() throws {
        let device = FakeDevice(isGated: true)
        let scheduler = scheduler(device)
        for picture in 0..<3 { _ = try scheduler.submit(picture) }
        let done = DispatchSemaphore(value: 0)
        let ticket = Locked<FrameTicket?>(nil)
        DispatchQueue.global().async {
            let fourth = try? scheduler.submit(3)
            ticket.withLock { $0 = fourth }
            done.signal()
        }
        // No permit has been given, so no frame is done and no slot free.
        #expect(ticket.withLock { $0 } == nil)
        device.permits?.signal()
        #expect(try next(scheduler) == 0)
        done.wait()
        #expect(ticket.withLock { $0?.number } == 3)
        for _ in 1...3 { device.permits?.signal() }
        #expect(try (1...3).map { _ in try next(scheduler) } == [1, 2, 3])
    }

    @Test("No frame overtakes one that takes long to stage: nobody could collect either of them")
    func slowStaging() throws {
        let device = FakeDevice(slowPicture: 0)
        let scheduler = scheduler(device)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            _ = try? scheduler.submit(0)
            done.signal()
        }
        while !device.events.contains(.staged(0, slot: 0)) { usleep(1000) }
        for picture in 1...2 { _ = try scheduler.submit(picture) }
        let early = device.events.filter { if case .submitted = $0 { true } else { false } }
        device.isStaged.signal()
        done.wait()
        try #require(early == [])
        #expect(try (0...2).map { _ in try next(scheduler) } == [0, 1, 2])
        let submitted = device.events.filter { if case .submitted = $0 { true } else { false } }
        #expect(submitted == [.submitted(0), .submitted(1), .submitted(2)])
    }

    @Test("Results that several threads ask for come in the order of the tickets")
    func manyCollectors() throws {
        let device = FakeDevice()
        let scheduler = scheduler(device)
        let order = Locked<[Int]>([])
        for round in 0..<50 {
            let tickets = try (0..<3).map { try scheduler.submit(3 * round + $0) }
            // Real threads: the later tickets wait for the earlier, whatever the number of processors.
            let done = DispatchSemaphore(value: 0)
            for ticket in tickets.reversed() {
                Thread.detachNewThread {
                    _ = try? scheduler.collect(ticket) { picture in order.withLock { $0.append(picture) } }
                    done.signal()
                }
            }
            for _ in tickets { done.wait() }
        }
        #expect(order.withLock { $0 } == Array(0..<150))
    }

    @Test("Threads that each submit and collect their own frames get their own results")
    func manyCallers() throws {
        let scheduler = scheduler(FakeDevice())
        let wrong = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for frame in 0..<100 {
                let picture = thread * 1000 + frame
                let result = try? scheduler.collect(scheduler.submit(picture)) { $0 }
                if result != picture { wrong.withLock { $0 += 1 } }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test("Any sequence of calls keeps the order, loses no frame and runs no cancelled one", arguments: 0..<50)
    func randomSequences(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let device = FakeDevice()
        let (slots, ahead) = (Int.random(in: 1...4, using: &random), Int.random(in: 1...4, using: &random))
        let scheduler = scheduler(device, slots: slots, ahead: ahead)
        var expected: [Int] = []
        var results: [Int] = []
        var tickets: [FrameTicket] = []
        var neverRun: [Int] = []
        for step in 0..<200 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                if let ticket = try scheduler.submitIfFree(step) {
                    tickets.append(ticket)
                    expected.append(step)
                }
            case 2: if let result = try next(scheduler) { results.append(result) }
            default:
                guard let index = tickets.indices.randomElement(using: &random) else { continue }
                let picture = expected[index]
                switch scheduler.cancel(tickets[index]) {
                case .tooLate: continue
                case .neverRun: neverRun.append(picture)
                case .dropped: break
                }
                tickets.remove(at: index)
                expected.remove(at: index)
            }
        }
        while let result = try next(scheduler) { results.append(result) }
        #expect(results == expected)
        #expect(neverRun.allSatisfy { !device.events.contains(.submitted($0)) })
        // The device never has more frames than it may.
        var inside = 0
        for event in device.events {
            if case .submitted = event { inside += 1 }
            if case .waited = event { inside -= 1 }
            #expect(inside <= ahead)
        }
    }
}
