/// Work that is done one piece after the other, in order, on one thread of its own.
package final class SerialQueue: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isEnding = false
    }

    private let state: Locked<State>

    /// - Parameter name: The thread's, for debuggers; at most 15 bytes.
    /// - Throws: `SystemError` where the system has no thread left.
    package init(name: String) throws(SystemError) {
        let state = Locked(State())
        self.state = state
        try SystemThread(name: name) {
            while let work = Self.next(state) { work() }
        }.detach()
    }

    /// What was asked for before is still done.
    deinit { state.update { $0.isEnding = true } }

    /// Has `work` done once all that was asked for before is done. Returns at once.
    package func async(_ work: @escaping @Sendable () -> Void) { state.update { $0.work.append(work) } }

    /// The next piece of work; nil at the end.
    private static func next(_ state: Locked<State>) -> (@Sendable () -> Void)? {
        state.wait { state in
            if !state.work.isEmpty { return .some(state.work.removeFirst()) }
            return state.isEnding ? .some(nil) : nil
        }
    }
}
