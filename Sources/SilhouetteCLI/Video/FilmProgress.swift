import Base

/// What a run over a film tells while it works: on a terminal one line that counts.
final class FilmProgress: Sendable {
    private struct State {
        var lineIsDrawn = false
        var lastDrawn: ContinuousClock.Instant?
    }

    private let expected: Int?
    private let draws: Bool
    private let start = ContinuousClock.now
    private let state = Locked(State())
    /// The eye reads no faster.
    private static let pause = Duration.milliseconds(200)

    /// - Parameter expected: Frames that will come, about.
    init(expected: Int?) {
        self.expected = expected
        draws = Console.isTerminal
    }

    /// Tells how many frames are done.
    func done(_ count: Int) {
        guard draws else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.lastDrawn, now - last < Self.pause { return }
            clear(&state)
            Console.reportRaw(progressLine(count, of: expected, seconds: (now - start) / .seconds(1)))
            state.lineIsDrawn = true
            state.lastDrawn = now
        }
    }

    /// Tells something else.
    func note(_ line: String) {
        state.withLock { state in
            clear(&state)
            Console.report(singleLine(line))
        }
    }

    /// Takes the counting line away.
    func end() { state.withLock { clear(&$0) } }

    private func clear(_ state: inout State) {
        if state.lineIsDrawn { Console.reportRaw("\r\u{1B}[K") }
        state.lineIsDrawn = false
        state.lastDrawn = nil
    }
}

/// `53 of about 1394 frames, 12.3 a second, 1:49 left`.
///
/// - Parameter expected: Frames that will come, where that is known; it may be wrong.
package func progressLine(_ count: Int, of expected: Int?, seconds: Double) -> String {
    let rate = Double(count) / max(seconds, 1e-3)
    let speed = "\(decimal(rate, places: 1)) a second"
    guard let expected, expected > count, rate > 0 else { return "\(count) frame\(count == 1 ? "" : "s"), \(speed)" }
    return "\(count) of about \(expected) frames, \(speed), \(clockTime(Double(expected - count) / rate)) left"
}

/// `0:07`, `12:34`, `1:02:03`; rounded up.
package func clockTime(_ seconds: Double) -> String {
    guard seconds < 1e9 else { return "ages" }
    let whole = Int(seconds.rounded(.up))
    let parts = whole >= 3600 ? [whole / 3600, whole / 60 % 60, whole % 60] : [whole / 60, whole % 60]
    return parts.enumerated().map { $0 > 0 && $1 < 10 ? "0\($1)" : "\($1)" }.joined(separator: ":")
}
