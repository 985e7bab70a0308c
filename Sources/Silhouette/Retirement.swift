import Dispatch
import Synchronization

/// Gives back what a failed device had.
///
/// After a time-out the device may still be at work on that memory, so another thread waits for it. Nothing is given back
/// behind the program's end: a driver that is unloaded while the process runs its exit handlers takes it down.
final class Retirement: Sendable {
    private struct State {
        var runner: (any FrameRunner)?
        var isAbandoned = false
    }

    private let state: Mutex<State>
    private let isDone = DispatchSemaphore(value: 0)

    /// Begins to wait, and to give back once the device has stopped.
    init(_ runner: any FrameRunner) {
        state = Mutex(State(runner: runner))
        DispatchQueue.global().async { [self] in
            state.withLock(\.runner)?.waitUntilIdle()
            state.withLock { state in
                if !state.isAbandoned { state.runner = nil }
            }
            isDone.signal()
        }
    }

    /// Waits until everything has been given back; a device that hangs longer than `seconds` keeps it for good.
    func wait(seconds: Double) {
        if isDone.wait(timeout: .now() + seconds) == .success { return }
        state.withLock { $0.isAbandoned = true }
    }
}
