import Base
import Dispatch

/// Passes values from one thread to another, at most one at a time.
///
/// The sender waits until the value before has been taken, so memory stays bounded.
private final class Handoff<Value: Sendable>: Sendable {
    private let slot = Locked<Value?>(nil)
    private let empty = DispatchSemaphore(value: 0)
    private let full = DispatchSemaphore(value: 0)

    init() { empty.signal() }

    func put(_ value: Value) {
        empty.wait()
        slot.withLock { $0 = .some(value) }
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
/// The second stage runs on the calling thread. At most five inputs are inside at a time. Nothing that the stages hold is held
/// any more when this returns.
///
///     first   | read 1 | read 2 | read 3 |
///     second           | run 1  | run 2  | run 3  |
///     third                     | write 1| write 2| write 3
package func runPipeline<Input: Sendable, Read: Sendable, Done: Sendable>(
    _ inputs: [Input], first: @escaping @Sendable (Input) -> Read, second: (Read) -> Done,
    third: @escaping @Sendable (Done) -> Void
) {
    let rest = Locked(inputs[...])
    runPipeline(
        first: { rest.withLock { $0.popFirst() }.map(first) }, second: second, third: third)
}

/// Runs a stream through three stages that work side by side, as above, until the first one has nothing more to give.
///
/// - Parameter first: Gives the next value of the stream; nil at its end.
package func runPipeline<Read: Sendable, Done: Sendable>(
    first: @escaping @Sendable () -> Read?, second: (Read) -> Done, third: @escaping @Sendable (Done) -> Void
) {
    let read = Handoff<Read?>()
    let done = Handoff<Done?>()
    let reader = DispatchQueue(label: "silhouette.read")
    let writer = DispatchQueue(label: "silhouette.write")
    reader.async {
        while let value = first() { read.put(value) }
        read.put(nil)
    }
    writer.async {
        while let value = done.take() { third(value) }
    }
    while let value = read.take() { done.put(second(value)) }
    done.put(nil)
    // A signal from inside the blocks would come before the queues let go of them, and of the stages. A thread of theirs could
    // then be the last to hold a device, and take it down while the program ends: drivers crash.
    reader.sync {}
    writer.sync {}
}

/// Runs every input through three stages, of which there are several second ones side by side: each works on an input of its own,
/// in turn. Results leave in the order of the inputs.
///
/// The third stage runs on the calling thread. At most three inputs for each worker, and two more, are inside at a time. Nothing
/// that the stages hold is held any more when this returns.
///
/// - Parameter second: Gets the number of the worker, from 0 on.
package func runPipeline<Input: Sendable, Read: Sendable, Done: Sendable>(
    _ inputs: [Input], workers: Int, first: @escaping @Sendable (Input) -> Read,
    second: @escaping @Sendable (_ worker: Int, Read) -> Done, third: (Done) -> Void
) {
    let read = (0..<workers).map { _ in Handoff<Read?>() }
    let done = (0..<workers).map { _ in Handoff<Done>() }
    let reader = DispatchQueue(label: "silhouette.read")
    let queues = (0..<workers).map { DispatchQueue(label: "silhouette.work.\($0)") }
    reader.async {
        for (index, input) in inputs.enumerated() { read[index % workers].put(first(input)) }
        for worker in 0..<workers { read[worker].put(nil) }
    }
    for worker in 0..<workers {
        queues[worker].async {
            while let value = read[worker].take() { done[worker].put(second(worker, value)) }
        }
    }
    for index in inputs.indices { third(done[index % workers].take()) }
    // As above.
    reader.sync {}
    for queue in queues { queue.sync {} }
}
