import Dispatch
import Synchronization

/// Passes values from one thread to another, at most one at a time.
///
/// The sender waits until the value before has been taken, so memory stays bounded.
private final class Handoff<Value: Sendable>: Sendable {
    private let slot = Mutex<Value?>(nil)
    private let empty = DispatchSemaphore(value: 0)
    private let full = DispatchSemaphore(value: 0)

    init() { empty.signal() }

    func put(_ value: Value) {
        empty.wait()
        slot.withLock { $0 = value }
        full.signal()
    }

    func take() -> Value {
        full.wait()
        let value = slot.withLock { slot in
            defer { slot = nil }
            return slot
        }
        empty.signal()
        return value!
    }
}

/// Runs every input through three stages that work side by side: while the second works on one input, the first is
/// at the next and the third at the one before. Results leave in the order of the inputs.
///
/// The second stage runs on the calling thread. At most five inputs are inside at a time.
///
///     first   | read 1 | read 2 | read 3 |
///     second           | run 1  | run 2  | run 3  |
///     third                     | write 1| write 2| write 3
package func runPipeline<Input: Sendable, Read: Sendable, Done: Sendable>(
    _ inputs: [Input], first: @escaping @Sendable (Input) -> Read, second: (Read) -> Done,
    third: @escaping @Sendable (Done) -> Void
) {
    let read = Handoff<Read>()
    let done = Handoff<Done?>()
    let finished = DispatchSemaphore(value: 0)
    DispatchQueue(label: "silhouette.read").async {
        for input in inputs { read.put(first(input)) }
    }
    DispatchQueue(label: "silhouette.write").async {
        while let value = done.take() { third(value) }
        finished.signal()
    }
    for _ in inputs { done.put(second(read.take())) }
    done.put(nil)
    finished.wait()
}
