import Base

/// Bytes that all connections together may hold of what was sent to the server and is not worked off.
///
/// Each message has a few bytes free, so that a camera's frames get through whatever others do.
package final class ByteBudget: Sendable {
    /// Bytes of each message that are not counted. A connection has no more than five messages at once: one that comes, and
    /// those of its frames that wait, are decoded or are in the network.
    package static let freeByteCount = 1 << 18

    /// What one message takes, given back when it goes away.
    package final class Share: Sendable {
        private let budget: ByteBudget
        private let count = Locked(0)

        fileprivate init(_ budget: ByteBudget) { self.budget = budget }

        deinit { budget.giveBack(Self.counted(count.withLock { $0 })) }

        /// Takes more; false where there is no more, and then nothing has changed.
        package func grow(by more: Int) -> Bool {
            count.withLock { count in
                guard budget.take(Self.counted(count + more) - Self.counted(count)) else { return false }
                count += more
                return true
            }
        }

        private static func counted(_ count: Int) -> Int { max(0, count - ByteBudget.freeByteCount) }
    }

    private let limit: Int
    private let used = Locked(0)

    package init(limit: Int) { self.limit = limit }

    /// A message of no bytes yet.
    package func share() -> Share { Share(self) }

    private func take(_ count: Int) -> Bool {
        used.withLock { used in
            guard count <= limit - used else { return false }
            used += count
            return true
        }
    }

    private func giveBack(_ count: Int) { used.withLock { $0 -= count } }
}
