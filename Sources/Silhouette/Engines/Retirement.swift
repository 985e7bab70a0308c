import Base
import Dispatch

/// Gives back what a failed device had.
///
/// After a time-out the device may still be at work on that memory, so another thread waits for it. Nothing is given back
/// behind the program's end: a driver that is unloaded while the process runs its exit handlers takes it down.
final class Retirement: Sendable {
    private let runner: Locked<(any FrameRunner)?>
    private let isDone = DispatchSemaphore(value: 0)

    /// Runners of devices that hang, kept for good.
    private static let abandoned = Locked<[any FrameRunner]>([])

    /// Begins to wait, and to give back once the device has stopped.
    init(_ runner: any FrameRunner) {
        self.runner = Locked(runner)
        do throws(SystemError) {
            try SystemThread(name: "retirement") { [self] in
                self.runner.withLock(\.self)?.giveUp()
                giveBack()
                isDone.signal()
            }.detach()
        } catch {
            // Nobody can wait for the device: it keeps what it has.
            Self.abandoned.withLock { $0.append(runner) }
            isDone.signal()
        }
    }

    private func giveBack() {
        // Let go of behind the lock.
        _ = runner.withLock { runner in
            defer { runner = nil }
            return runner
        }
    }

    /// Waits until everything has been given back; a device that hangs longer than `seconds` keeps it for good.
    func wait(seconds: Double) {
        if isDone.wait(timeout: .now() + seconds) == .success { return }
        // Else it would go when the device stops after all, which may be behind the program's end.
        if let runner = runner.withLock(\.self) { Self.abandoned.withLock { $0.append(runner) } }
    }
}
