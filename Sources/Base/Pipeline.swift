/// Runs a stream of values through three stages that work side by side, until the first one has nothing more to give. Results leave
/// in the order in which values came.
///
/// There are one or several second stages: each works on a value of its own, in turn. The first stage and the second ones have
/// threads, the third one runs on the calling thread. At most three values for each worker, and two more, are inside at a time.
/// Nothing that the stages hold is held any more when this returns.
///
///     first     | read 1 | read 2 | read 3 |
///     second             | run 1  | run 2  | run 3  |
///     third                       | write 1| write 2| write 3
///
/// - Parameters:
///   - workers: Second stages.
///   - first: Gives the next value; nil at the end.
///   - second: Gets the number of the worker, from 0 on.
/// - Throws: `SystemError` where a thread cannot be had; no stage has been called then.
package func runPipeline<Read: Sendable, Done: Sendable>(
    workers: Int = 1, first: @escaping @Sendable () -> Read?,
    second: @escaping @Sendable (_ worker: Int, Read) -> Done, third: (Done) -> Void
) throws(SystemError) {
    let read = (0..<workers).map { _ in Handoff<Read?>() }
    let done = (0..<workers).map { _ in Handoff<Done?>() }
    var threads: [SystemThread] = []
    // A device may be held by what the stages hold. A thread that lets go of it after this has returned would take it down
    // while the program ends: drivers crash.
    defer { for thread in threads { thread.join() } }
    do throws(SystemError) {
        for worker in 0..<workers {
            threads.append(
                try SystemThread(name: "work \(worker)") {
                    while let value = read[worker].take() { done[worker].put(second(worker, value)) }
                    done[worker].put(nil)
                })
        }
        threads.append(
            try SystemThread(name: "read") {
                var index = 0
                while let value = first() {
                    read[index % workers].put(value)
                    index += 1
                }
                for worker in 0..<workers { read[worker].put(nil) }
            })
    } catch {
        for worker in threads.indices { read[worker].put(nil) }
        throw error
    }
    var index = 0
    while let value = done[index % workers].take() {
        third(value)
        index += 1
    }
}

extension Array where Element: Sendable {
    /// Gives one element after the other, from the first to the last, whichever thread asks; then nil.
    package var handout: @Sendable () -> Element? {
        let rest = Locked(self[...])
        return { rest.withLock { $0.popFirst() } }
    }
}

/// Passes values from one thread to another, at most one at a time.
///
/// The sender waits until the value before has been taken, so memory stays bounded.
private final class Handoff<Value: Sendable>: Sendable {
    private let slot = Locked<Value?>(nil)

    func put(_ value: Value) {
        slot.wait { slot -> Void? in
            guard case .none = slot else { return nil }
            slot = .some(value)
            return ()
        }
        slot.update { _ in }
    }

    func take() -> Value {
        let value = slot.wait { slot -> Value? in
            defer { slot = .none }
            return slot
        }
        slot.update { _ in }
        return value
    }
}
