import Base
import Dispatch
import Glibc
import Testing

@Suite("Pipeline")
struct PipelineTests {
    /// One worker on a list.
    private func run<Input: Sendable, Read: Sendable, Done: Sendable>(
        _ inputs: [Input], first: @escaping @Sendable (Input) -> Read, second: @escaping @Sendable (Read) -> Done,
        third: (Done) -> Void
    ) throws {
        let next = inputs.handout
        try runPipeline {
            next().map(first)
        } second: { _, value in
            second(value)
        } third: { value in
            third(value)
        }
    }

    @Test("Every input goes through all stages, in order", arguments: [0, 1, 2, 17])
    func order(count: Int) throws {
        var written: [String] = []
        try run(Array(0..<count)) {
            "r\($0)"
        } second: {
            "s" + $0
        } third: { value in
            written.append(value)
        }
        #expect(written == (0..<count).map { "sr\($0)" })
    }

    /// Each stage waits for the others' signals: a pipeline that ran its stages one after another would hang, which the
    /// time limit turns into a failure.
    @Test("Reading the next and writing the last overlap the work on one", .timeLimit(.minutes(1)))
    func overlap() throws {
        let readNext = DispatchSemaphore(value: 0)
        let wroteLast = DispatchSemaphore(value: 0)
        let runningSecond = DispatchSemaphore(value: 0)
        try run([0, 1, 2]) { index in
            if index == 2 { readNext.signal() }
            return index
        } second: { index in
            if index == 1 {
                runningSecond.signal()
                readNext.wait()
                wroteLast.wait()
            }
            return index
        } third: { index in
            if index == 0 {
                runningSecond.wait()
                wroteLast.signal()
            }
        }
    }

    @Test("A slow last stage holds the first one back")
    func bounded() throws {
        let inside = Locked((now: 0, most: 0))
        try run(Array(0..<50)) { index in
            inside.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
            return index
        } second: {
            $0
        } third: { _ in
            inside.withLock { $0.now -= 1 }
        }
        #expect(inside.withLock { $0.most } <= 6)
    }

    /// Otherwise a thread of the pipeline may take a device down while the program ends.
    @Test("Nothing holds the stages any more when the pipeline returns")
    func stagesAreReleased() throws {
        final class Held: Sendable {}
        var survivors = 0
        for _ in 0..<2_000 {
            weak var seen: Held?
            do {
                let held = Held()
                seen = held
                try run([0]) { index in
                    withExtendedLifetime(held) { index }
                } second: {
                    $0
                } third: { _ in
                    withExtendedLifetime(held) {}
                }
            }
            if seen != nil { survivors += 1 }
        }
        #expect(survivors == 0)
    }

    @Test("Several workers leave the order as it is, each input once", arguments: [1, 2, 3, 7])
    func workers(_ count: Int) throws {
        for inputCount in [0, 1, 2, 5, 40] {
            let seen = Locked<[Int: Int]>([:])
            var order: [Int] = []
            try runPipeline(workers: count, first: Array(0..<inputCount).handout) {
                worker, value in
                seen.withLock { $0[value, default: 0] += 1 }
                // Late ones overtake nobody.
                if value % 3 == 0 { usleep(500) }
                return (value, worker)
            } third: { value, worker in
                #expect(worker == value % count)
                order.append(value)
            }
            #expect(order == Array(0..<inputCount))
            #expect(seen.withLock { $0.values.allSatisfy { $0 == 1 } && $0.count == inputCount })
        }
    }
}
