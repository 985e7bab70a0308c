import Base
import Testing

@Suite("Locked values", .timeLimit(.minutes(5)))
struct LockedTests {
    private struct Refusal: Error, Equatable { var number: Int }

    @Test("An update wakes who waits")
    func wakes() throws {
        let value = Locked(0)
        let seen = Locked<Int?>(nil)
        let thread = try SystemThread(name: "waiter") {
            let found = value.wait { $0 > 1 ? $0 : nil }
            seen.withLock { $0 = found }
        }
        value.update { $0 = 1 }
        value.update { $0 = 2 }
        thread.join()
        #expect(seen.withLock { $0 } == 2)
    }

    @Test("One update wakes all who wait")
    func wakesAll() throws {
        let isOpen = Locked(false)
        let passed = Locked(0)
        let threads = try (0..<8).map { _ in
            try SystemThread(name: "waiter") {
                isOpen.wait { $0 ? () : nil }
                passed.withLock { $0 += 1 }
            }
        }
        isOpen.update { $0 = true }
        for thread in threads { thread.join() }
        #expect(passed.withLock { $0 } == 8)
    }

    @Test("Errors pass with their type, and leave the value unlocked")
    func typedErrors() {
        let value = Locked(3)
        func thrown(_ body: () throws(Refusal) -> Void) -> Refusal? {
            do throws(Refusal) { try body() } catch { return error }
            return nil
        }
        #expect(
            thrown { () throws(Refusal) in try value.withLock { (n) throws(Refusal) in throw Refusal(number: n) } }?
                .number == 3)
        #expect(
            thrown { () throws(Refusal) in
                try value.update { (n) throws(Refusal) in
                    n = 4
                    throw Refusal(number: n)
                }
            }?.number == 4)
        #expect(
            thrown { () throws(Refusal) in
                try value.wait { (n) throws(Refusal) -> Void? in throw Refusal(number: n) }
            }?.number == 4)
        #expect(value.withLock { $0 } == 4)
    }

    @Test("An update that throws wakes who waits, too")
    func wakesOnError() throws {
        let value = Locked(0)
        let thread = try SystemThread(name: "waiter") { value.wait { $0 == 1 ? () : nil } }
        #expect(throws: Refusal(number: 1)) {
            try value.update { number throws(Refusal) in
                number = 1
                throw Refusal(number: number)
            }
        }
        thread.join()
    }

    @Test("Many threads lose neither an increment nor a wake-up")
    func manyThreads() throws {
        struct Queue {
            var jobs: [Int] = []
            var isDone = false
        }
        let queue = Locked(Queue())
        let sum = Locked(0)
        let (producerCount, jobCount) = (4, 2_000)
        let consumers = try (0..<4).map { _ in
            try SystemThread(name: "consumer") {
                while true {
                    let job: Int? = queue.wait { queue in
                        if let job = queue.jobs.popLast() { return .some(.some(job)) }
                        return queue.isDone ? .some(.none) : nil
                    }
                    guard let job else { return }
                    sum.withLock { $0 += job }
                }
            }
        }
        let producers = try (0..<producerCount).map { producer in
            try SystemThread(name: "producer") {
                for job in 0..<jobCount { queue.update { $0.jobs.append(producer * jobCount + job) } }
            }
        }
        for thread in producers { thread.join() }
        queue.update { $0.isDone = true }
        for thread in consumers { thread.join() }
        #expect(sum.withLock { $0 } == (0..<producerCount * jobCount).reduce(0, +))
    }
}
