/// The values that were used last, made when they are needed and forgotten when there are too many.
///
/// A pure value, so that its rules can be tested alone.
package struct RecentValues<Key: Hashable, Value> {
    private var entries: [(key: Key, value: Value, cost: Int)] = []
    private let countLimit: Int
    private let costLimit: Int

    /// - Parameters:
    ///   - countLimit: Most values that are kept.
    ///   - costLimit: Most that the kept values cost together. The newest is kept whatever it costs.
    package init(countLimit: Int, costLimit: Int) {
        self.countLimit = countLimit
        self.costLimit = costLimit
    }

    /// The keys, the one used last at the end.
    package var keys: [Key] { entries.map(\.key) }

    /// The value of a key, made where there is none.
    ///
    /// What has to go goes before a new value is made, so that memory for both is never needed at once.
    package mutating func value<Failure: Error>(for key: Key, cost: Int, make: () throws(Failure) -> Value)
        throws(Failure) -> Value
    {
        if let index = entries.firstIndex(where: { $0.key == key }) {
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry.value
        }
        while !entries.isEmpty, entries.count >= countLimit || total + cost > costLimit { entries.removeFirst() }
        let value = try make()
        entries.append((key, value, cost))
        return value
    }

    /// Forgets the value of a key.
    package mutating func remove(_ key: Key) { entries.removeAll { $0.key == key } }

    private var total: Int { entries.reduce(0) { $0 + $1.cost } }
}
