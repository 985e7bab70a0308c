/// Bytes that all connections together may hold of what was sent to the server and is not worked off.
final class ByteBudget: Sendable {
    /// A part of the budget, given back when it goes away.
    final class Share: Sendable {
        private let budget: ByteBudget
        private let count = Guarded(0)

        fileprivate init(_ budget: ByteBudget) { self.budget = budget }

        deinit { budget.giveBack(count.withLock { $0 }) }

        /// Takes more; false where there is no more, and then nothing has changed.
        func grow(by more: Int) -> Bool {
            guard budget.take(more) else { return false }
            count.withLock { $0 += more }
            return true
        }
    }

    private let limit: Int
    private let used = Guarded(0)

    init(limit: Int) { self.limit = limit }

    /// A part of no bytes yet.
    func share() -> Share { Share(self) }

    private func take(_ count: Int) -> Bool {
        used.withLock { used in
            guard count <= limit - used else { return false }
            used += count
            return true
        }
    }

    private func giveBack(_ count: Int) { used.withLock { $0 -= count } }
}
