import PreviewServer
import Testing

@Suite("Outbox: the newest frame wins, one under way is finished")
struct OutboxTests {
    private typealias Box = Outbox<String>

    private func set(_ sequence: UInt32) -> Box.MessageSet {
        Box.MessageSet(
            sequence: sequence, timestamp: UInt64(sequence), messages: ["mask \(sequence)", "result \(sequence)"])
    }

    private func drain(_ box: inout Box) -> [String] {
        var messages: [String] = []
        while let message = box.next() { messages.append(message) }
        return messages
    }

    private func sequences(_ frames: [Box.MessageSet]) -> [UInt32] { frames.map(\.sequence) }

    /// A message was sent, and there is no room for the next yet.
    private func slowBox() -> Box {
        var box = Box()
        box.post("hello")
        _ = box.next()
        return box
    }

    @Test("Notices come before a frame that has not begun")
    func order() {
        var box = Box()
        #expect(box.isEmpty)
        #expect(sequences(box.post(set(1))) == [])
        box.post("hello")
        #expect(drain(&box) == ["hello", "mask 1", "result 1"])
        #expect(box.isEmpty)
    }

    @Test("A frame that waits is replaced by a newer one, and reported")
    func replacement() {
        var box = slowBox()
        #expect(sequences(box.post(set(1))) == [])
        #expect(sequences(box.post(set(2))) == [1])
        #expect(drain(&box) == ["mask 2", "result 2"])
    }

    @Test("Where the other side keeps up two frames may wait, a third replaces the oldest")
    func quick() {
        var box = Box()
        #expect(sequences(box.post(set(1))) == [])
        #expect(sequences(box.post(set(2))) == [])
        #expect(sequences(box.post(set(3))) == [1])
        #expect(drain(&box) == ["mask 2", "result 2", "mask 3", "result 3"])
        // All is gone and there is room: it keeps up again.
        #expect(sequences(box.post(set(4))) == [])
        #expect(sequences(box.post(set(5))) == [])
    }

    @Test("A frame that comes late does not replace a newer one, and goes before it")
    func late() {
        var box = slowBox()
        #expect(sequences(box.post(set(2))) == [])
        #expect(sequences(box.post(set(1))) == [1])
        #expect(drain(&box) == ["mask 2", "result 2"])
        #expect(sequences(box.post(set(4))) == [])
        #expect(sequences(box.post(set(3))) == [])
        #expect(drain(&box) == ["mask 3", "result 3", "mask 4", "result 4"])
    }

    @Test("A frame under way is not cut by a notice or by the next frame")
    func underWay() {
        var box = Box()
        #expect(sequences(box.post(set(1))) == [])
        #expect(box.next() == "mask 1")
        #expect(sequences(box.post(set(2))) == [])
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
