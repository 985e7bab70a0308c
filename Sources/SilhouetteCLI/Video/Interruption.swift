import Base
import Glibc

/// Ctrl-C, once and twice.
///
/// The first signal asks the work to end well, the second one ends the program.
final class Interruption: Sendable {
    private struct State {
        var hasCome = false
        var ask: (@Sendable () -> Void)?
        var hiddenFiles: [String] = []
    }

    private let state = Locked(State())

    /// Begins to listen for SIGINT and SIGTERM, which end the program no more.
    ///
    /// - Throws: `SystemError` where the system has no thread for it.
    init() throws(SystemError) {
        // As long as the program runs: whoever is interrupted once may be so twice.
        try SystemThread(name: "signals") { [self] in
            while true {
                EndSignals.wait()
                arrived()
            }
        }.detach()
        EndSignals.listen()
    }

    /// Whether a signal has come.
    var hasCome: Bool { state.withLock(\.hasCome) }

    /// What to do when the first signal comes: at once, where it has come already.
    func onFirst(hiddenFiles: [String], _ ask: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.ask = ask
            state.hiddenFiles = hiddenFiles
            return state.hasCome
        }
        if isLate { ask() }
    }

    private func arrived() {
        let (isFirst, ask, hidden) = state.withLock { state in
            defer { state.hasCome = true }
            return (!state.hasCome, state.ask, state.hiddenFiles)
        }
        guard isFirst else {
            hidden.forEach { unlink($0) }
            // At once: what the encoder has not finished has no name yet, and goes with it.
            _exit(ExitCode.interrupted.rawValue)
        }
        ask?()
    }
}
