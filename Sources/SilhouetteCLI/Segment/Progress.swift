import Base
import Glibc

/// What a run tells while it works: a line for each result, and on a terminal one line that counts.
final class Progress: Sendable {
    private struct State {
        var doneCount = 0
        var failures: [String] = []
        var lineIsDrawn = false
    }

    private let total: Int
    private let draws: Bool
    private let printsResults: Bool
    private let start = ContinuousClock.now
    private let state = Locked(State())

    /// - Parameters:
    ///   - total: Number of photographs.
    ///   - printsResults: Whether standard output is free for words.
    init(total: Int, printsResults: Bool) {
        self.total = total
        self.printsResults = printsResults
        draws = total > 1 && Console.isTerminal
    }

    /// Names of the photographs that failed.
    var failures: [String] { state.withLock { $0.failures } }

    /// Tells that a photograph is done.
    func finished(_ line: String) {
        state.withLock { state in
            state.doneCount += 1
            clear(&state)
            if printsResults { Console.print(singleLine(line)) }
            draw(&state)
        }
    }

    /// Tells that a photograph failed.
    func failed(_ input: Input, _ reason: String) {
        state.withLock { state in
            state.doneCount += 1
            state.failures.append(input.displayName)
            clear(&state)
            Console.report(singleLine("silhouette: \(reason)"))
            draw(&state)
        }
    }

    /// Tells something else.
    func note(_ line: String) {
        state.withLock { state in
            clear(&state)
            Console.report(singleLine(line))
            draw(&state)
        }
    }

    /// Takes the counting line away.
    func end() { state.withLock { clear(&$0) } }

    private func clear(_ state: inout State) {
        if state.lineIsDrawn { Console.reportRaw("\r\u{1B}[K") }
        state.lineIsDrawn = false
    }

    private func draw(_ state: inout State) {
        guard draws, state.doneCount < total else { return }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let rate = decimal(Double(state.doneCount) / max(seconds, 1e-3), places: 1)
        let failed = state.failures.isEmpty ? "" : ", \(state.failures.count) failed"
        Console.reportRaw("\(state.doneCount) of \(total) photographs, \(rate) a second\(failed)")
        state.lineIsDrawn = true
    }
}
