import Base
import Glibc
import Testing

@Suite("Thread pool", .timeLimit(.minutes(5)))
struct ThreadPoolTests {
    @Test("Every task is done once, on a thread of the pool", arguments: [1, 2, 5], [0, 1, 2, 1000])
    func once(threadCount: Int, count: Int) {
        let pool = ThreadPool(threadCount: threadCount)
        #expect(pool.threadCount == threadCount)
        let calls = Locked([Int](repeating: 0, count: count))
        let wrong = Locked(0)
        for _ in 0..<20 {
            pool.forEach(count) { task, thread in
                calls.withLock { $0[task] += 1 }
                if !(0..<threadCount).contains(thread) { wrong.withLock { $0 += 1 } }
            }
        }
        #expect(calls.withLock { $0 } == [Int](repeating: 20, count: count))
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test("No thread does two tasks at once, so each may have memory of its own")
    func scratch() {
        let pool = ThreadPool(threadCount: 4)
        let busy = Locked<Set<Int>>([])
        let clashes = Locked(0)
        pool.forEach(500) { _, thread in
            if !busy.withLock({ $0.insert(thread).inserted }) { clashes.withLock { $0 += 1 } }
            sched_yield()
            busy.withLock { _ = $0.remove(thread) }
        }
        #expect(clashes.withLock { $0 } == 0)
    }

    @Test("Regions of several callers take turns")
    func callers() throws {
        let pool = ThreadPool(threadCount: 3)
        let sum = Locked(0)
        let threads = try (0..<4).map { _ in
            try SystemThread(name: "caller") {
                for _ in 0..<50 { pool.forEach(10) { task, _ in sum.withLock { $0 += task } } }
            }
        }
        for thread in threads { thread.join() }
        #expect(sum.withLock { $0 } == 4 * 50 * 45)
    }

    @Test("Workers that sleep are woken by the next region, and end with the pool")
    func sleep() {
        for _ in 0..<5 {
            let pool = ThreadPool(threadCount: 3)
            let done = Locked(0)
            pool.forEach(8) { _, _ in done.withLock { $0 += 1 } }
            usleep(20_000)
            pool.forEach(8) { _, _ in done.withLock { $0 += 1 } }
            #expect(done.withLock { $0 } == 16)
        }
    }
}
