import PreviewServer
import Testing

@Suite("Outbox: the newest frame wins, one under way is finished")
struct OutboxTests {
    private typealias Box = Outbox<String>

    private func set(_ sequence: UInt32) -> Box.FrameSet {
        Box.FrameSet(
            sequence: sequence, timestamp: UInt64(sequence), messages: ["mask \(sequence)", "result \(sequence)"])
    }

    private func drain(_ box: inout Box) -> [String] {
        var messages: [String] = []
        while let message = box.next() { messages.append(message) }
        return messages
    }

    @Test("Notices come before a frame that has not begun")
    func order() {
        var box = Box()
        #expect(box.isEmpty)
        #expect(box.post(set(1)) == nil)
        box.post("hello")
        #expect(drain(&box) == ["hello", "mask 1", "result 1"])
        #expect(box.isEmpty)
    }

    @Test("A frame that waits is replaced by a newer one, and reported")
    func replacement() {
        var box = Box()
        #expect(box.post(set(1)) == nil)
        #expect(box.post(set(2))?.sequence == 1)
        #expect(drain(&box) == ["mask 2", "result 2"])
    }

    @Test("A frame that comes late does not replace a newer one")
    func late() {
        var box = Box()
        #expect(box.post(set(2)) == nil)
        #expect(box.post(set(1))?.sequence == 1)
        #expect(drain(&box) == ["mask 2", "result 2"])
    }

    @Test("A frame under way is not cut by a notice or by the next frame")
    func underWay() {
        var box = Box()
        #expect(box.post(set(1)) == nil)
        #expect(box.next() == "mask 1")
        #expect(box.post(set(2)) == nil)
        box.post("dropped")
        #expect(drain(&box) == ["result 1", "dropped", "mask 2", "result 2"])
    }

    @Test("It says when the other side takes nothing")
    func backUp() {
        var box = Box()
        for number in 0..<Box.noticeLimit { box.post("\(number)") }
        #expect(box.isBackedUp)
        _ = box.next()
        #expect(!box.isBackedUp)
    }
}

@Suite("Rate limiter")
struct RateLimiterTests {
    @Test("So many at once, then so many a second")
    func rate() {
        var limiter = RateLimiter(rate: 10, burst: 2)
        let start = ContinuousClock.now
        #expect(limiter.admits(at: start) == true)
        #expect(limiter.admits(at: start) == true)
        #expect(limiter.admits(at: start) == false)
        #expect(limiter.admits(at: start + .milliseconds(99)) == false)
        #expect(limiter.admits(at: start + .milliseconds(101)) == true)
        #expect(limiter.admits(at: start + .milliseconds(101)) == false)
        // A long rest fills the bucket and not more; a clock that goes back changes nothing.
        #expect(limiter.admits(at: start + .seconds(60)) == true)
        #expect([limiter.admits(at: start), limiter.admits(at: start)].contains(false))
    }
}
