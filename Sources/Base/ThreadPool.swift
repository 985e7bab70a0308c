import CSystem
import Glibc
import Synchronization

/// Threads that share the tasks of one parallel region after another.
///
/// A network is some sixty regions of a tenth of a millisecond each, so a worker that has run out of tasks spins for about as
/// long as a region takes before it goes to sleep. The caller of `forEach` works too, and never waits for a worker that is
/// asleep or has been put aside by the system: a region is over when its tasks are done.
///
///     caller    publish, open ── tasks ── close ── wait until nobody is inside
///     worker    see the new number ── enter ── open? ── tasks ── leave
package final class ThreadPool: @unchecked Sendable {
    /// Threads that work in a region, the caller among them.
    package let threadCount: Int

    private typealias Body = (_ task: Int, _ thread: Int) -> Void

    /// Number of the newest region. Workers wait for it to change.
    private let region = Atomic<UInt64>(0)
    /// Whether workers may enter the newest region.
    private let isOpen = Atomic<Bool>(false)
    /// Workers that are inside, or looking whether they may be.
    private let activeWorkers = Atomic<Int>(0)
    private let nextTask = Atomic<Int>(0)
    private let sleepers = Atomic<Int>(0)
    private let isStopping = Atomic<Bool>(false)

    // Written by the caller while the region is closed and nobody is inside; read by workers only while it is open.
    private var taskCount = 0
    private var body: Body?

    /// Whose region it is.
    private let regionLock = Locked(())
    /// What workers sleep on.
    private let idle = Locked(())
    private var threads: [SystemThread] = []

    /// Pauses before a worker goes to sleep: about 0.1 ms on the processors at hand.
    private static let spinLimit = 2_000

    /// Starts `threadCount - 1` workers.
    package init(threadCount: Int) {
        self.threadCount = max(1, threadCount)
        for number in 1..<self.threadCount {
            // The worker borrows the pool: deinit joins it before anything goes away.
            let pool = Unmanaged.passUnretained(self)
            let thread = try? SystemThread(name: "pool \(number)") {
                pool._withUnsafeGuaranteedRef { $0.work(number: number) }
            }
            // Fewer threads than asked for are slower, not wrong.
            guard let thread else { break }
            threads.append(thread)
        }
    }

    deinit {
        isStopping.store(true, ordering: .sequentiallyConsistent)
        region.add(1, ordering: .sequentiallyConsistent)
        wakeSleepers()
        for thread in threads { thread.join() }
    }

    /// Calls `body` once for every task in `0 ..< count`, on any of the threads, and returns when all calls have returned.
    ///
    /// Tasks start in order. Regions of several callers take turns. `body` must not start a region itself.
    package func forEach(_ count: Int, _ body: (_ task: Int, _ thread: Int) -> Void) {
        guard threadCount > 1, count > 1 else {
            for task in 0..<count { body(task, 0) }
            return
        }
        regionLock.withLock { _ in withoutActuallyEscaping(body) { run($0, count) } }
    }

    private func run(_ body: @escaping Body, _ count: Int) {
        taskCount = count
        self.body = body
        nextTask.store(0, ordering: .relaxed)
        isOpen.store(true, ordering: .sequentiallyConsistent)
        region.add(1, ordering: .sequentiallyConsistent)
        if sleepers.load(ordering: .sequentiallyConsistent) > 0 { wakeSleepers() }
        runTasks(body, count, thread: 0)
        isOpen.store(false, ordering: .sequentiallyConsistent)
        var waits = 0
        while activeWorkers.load(ordering: .sequentiallyConsistent) > 0 {
            silhouette_pause()
            waits += 1
            if waits % Self.spinLimit == 0 { sched_yield() }
        }
        self.body = nil
    }

    private func runTasks(_ body: Body, _ count: Int, thread: Int) {
        while true {
            let task = nextTask.add(1, ordering: .relaxed).oldValue
            guard task < count else { return }
            body(task, thread)
        }
    }

    private func work(number: Int) {
        var seen: UInt64 = 0
        while true {
            seen = waitForRegion(after: seen)
            if isStopping.load(ordering: .sequentiallyConsistent) { return }
            // Enter first, then look: a caller that has closed the region waits for whoever has entered.
            activeWorkers.add(1, ordering: .sequentiallyConsistent)
            if isOpen.load(ordering: .sequentiallyConsistent), let body { runTasks(body, taskCount, thread: number) }
            activeWorkers.subtract(1, ordering: .sequentiallyConsistent)
        }
    }

    private func waitForRegion(after seen: UInt64) -> UInt64 {
        for _ in 0..<Self.spinLimit {
            let now = region.load(ordering: .sequentiallyConsistent)
            if now != seen { return now }
            silhouette_pause()
        }
        sleepers.add(1, ordering: .sequentiallyConsistent)
        defer { sleepers.subtract(1, ordering: .sequentiallyConsistent) }
        return idle.wait { _ in
            let now = region.load(ordering: .sequentiallyConsistent)
            return now != seen ? now : nil
        }
    }

    private func wakeSleepers() { idle.update { _ in } }
}
