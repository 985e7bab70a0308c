import PreviewProtocol
import PreviewServer
import Testing

@Suite("Order of frames")
struct ArrivalOrderTests {
    private func header(_ sequence: UInt32, _ timestamp: UInt64) -> MessageHeader {
        PreviewMessage(.frame, .rgb, sequence: sequence, timestamp: timestamp, width: 1, height: 1, payload: [0, 0, 0])
            .header
    }

    /// Which of some frames are accepted.
    private func accepted(_ frames: [(UInt32, UInt64)]) -> [Bool] {
        var order = ArrivalOrder()
        return frames.map { frame in (try? order.accept(header(frame.0, frame.1))) != nil }
    }

    @Test("Frames rise by any ordinary step, and one that does not is refused alone")
    func rising() {
        #expect(
            accepted([(1, 0), (2, 5), (2, 6), (3, 5), (9, 6), (10, 3_600_000_006), (0, 9)]) == [
                true, true, false, false, true, true, false,
            ])
    }

    @Test(
        "One huge number or time does not make every later frame too early",
        arguments: [(3, UInt64.max), (3, 1 << 53), (3, (1 << 53) - 1), (UInt32.max, 3), (UInt32.max, UInt64.max)]
            as [(UInt32, UInt64)])
    func poison(sequence: UInt32, timestamp: UInt64) {
        #expect(accepted([(1, 1), (2, 2), (sequence, timestamp), (4, 4), (5, 5)]) == [true, true, false, true, true])
        // The first one, too, where the time is one that no page can have.
        if timestamp >= 1 << 53 { #expect(accepted([(sequence, timestamp), (1, 1)]) == [false, true]) }
    }

    @Test("A stream that leaps and goes on there is taken up with its second frame")
    func leap() {
        let night: UInt64 = 30_000_000_000
        #expect(
            accepted([(1, 1), (2, night), (3, night + 1), (4, 2), (4, night + 2)]) == [
                true, false, true, false, true,
            ])
        // Two leaps that have nothing to do with each other are none.
        #expect(accepted([(1, 1), (2, night), (3, 3 * night), (4, 2)]) == [true, false, false, true])
    }
}
