import Testing
import VulkanCompute

/// Stands for a buffer; the tracker asks for its identity only.
private final class Memory {}

/// A tracker that `#expect` can ask: macros do not call mutating functions.
private final class Tracker {
    private var tracker = HazardTracker()

    func next(reads: [HazardTracker.Access], writes: [HazardTracker.Access]) -> Bool {
        tracker.next(reads: reads, writes: writes)
    }

    func clear() { tracker.clear() }
}

@Suite("Hazard tracker")
struct HazardTrackerTests {
    private let memory = Memory()
    private let other = Memory()

    private func bytes(_ range: Range<Int>) -> HazardTracker.Access {
        HazardTracker.Access(buffer: ObjectIdentifier(memory), bytes: range)
    }

    /// Whether a barrier stands between two steps.
    private func barrier(
        after first: (reads: [HazardTracker.Access], writes: [HazardTracker.Access]),
        before second: (reads: [HazardTracker.Access], writes: [HazardTracker.Access])
    ) -> Bool {
        let tracker = Tracker()
        #expect(!tracker.next(reads: first.reads, writes: first.writes))
        return tracker.next(reads: second.reads, writes: second.writes)
    }

    @Test("Read after write, write after read and write after write wait; read after read does not")
    func kinds() {
        let range = [bytes(0..<16)]
        #expect(barrier(after: ([], range), before: (range, [])))
        #expect(barrier(after: (range, []), before: ([], range)))
        #expect(barrier(after: ([], range), before: ([], range)))
        #expect(!barrier(after: (range, []), before: (range, [])))
    }

    @Test("One byte in common is enough; ranges that only touch have none")
    func overlaps() {
        for (first, second, expected) in [
            (0..<16, 15..<32, true), (0..<16, 16..<32, false), (16..<32, 0..<16, false), (0..<64, 20..<24, true),
            (20..<24, 0..<64, true), (0..<1, 63..<64, false),
        ] {
            #expect(
                barrier(after: ([], [bytes(first)]), before: ([bytes(second)], [])) == expected, "\(first) \(second)")
        }
    }

    @Test("The same bytes of another buffer are others")
    func buffers() {
        let elsewhere = HazardTracker.Access(buffer: ObjectIdentifier(other), bytes: 0..<16)
        #expect(!barrier(after: ([], [bytes(0..<16)]), before: ([elsewhere], [elsewhere])))
    }

    @Test("What a step reads and writes itself is no hazard")
    func inPlace() {
        let tracker = Tracker()
        #expect(!tracker.next(reads: [bytes(0..<8)], writes: [bytes(0..<8)]))
        #expect(tracker.next(reads: [bytes(0..<8)], writes: [bytes(0..<8)]))
    }

    @Test("A hazard is seen across steps that have nothing to do with it")
    func distance() {
        let tracker = Tracker()
        #expect(!tracker.next(reads: [], writes: [bytes(0..<8)]))
        #expect(!tracker.next(reads: [], writes: [bytes(8..<16)]))
        #expect(!tracker.next(reads: [], writes: [bytes(16..<24)]))
        #expect(tracker.next(reads: [bytes(0..<8)], writes: []))
    }

    @Test("A barrier orders all that came before it, and not the step that follows it")
    func afterBarrier() {
        let tracker = Tracker()
        #expect(!tracker.next(reads: [], writes: [bytes(0..<8), bytes(8..<16)]))
        #expect(tracker.next(reads: [bytes(0..<8)], writes: [bytes(16..<24)]))
        // The barrier covered the second range too; what the second step wrote is new.
        #expect(!tracker.next(reads: [bytes(8..<16)], writes: []))
        #expect(tracker.next(reads: [bytes(16..<24)], writes: []))
    }

    @Test("A barrier made elsewhere is told")
    func clearing() {
        let tracker = Tracker()
        #expect(!tracker.next(reads: [], writes: [bytes(0..<8)]))
        tracker.clear()
        #expect(!tracker.next(reads: [bytes(0..<8)], writes: [bytes(0..<8)]))
    }
}

@Suite("Arena layout")
struct ArenaLayoutTests {
    @Test("Parts follow one another, each aligned", arguments: [1, 16, 48, 256])
    func order(alignment: Int) {
        var layout = ArenaLayout(alignment: alignment)
        #expect(layout.byteCount == 0)
        var end = 0
        for size in [1, alignment, alignment + 1, 3, 1000] {
            let offset = layout.reserve(size)
            #expect(offset % alignment == 0)
            #expect(offset >= end && offset - end < alignment)
            end = offset + size
        }
        #expect(layout.byteCount >= end && layout.byteCount % alignment == 0)
    }
}
