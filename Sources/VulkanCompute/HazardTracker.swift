/// Finds out which dispatches must wait for earlier ones.
///
/// It keeps the byte ranges that have been read and written since the last barrier. A dispatch that reads what was written, or
/// writes what was read or written, needs a barrier before it; one barrier orders everything, so the lists start anew.
package struct HazardTracker: Sendable {
    /// Bytes of one buffer.
    package struct Access: Sendable, Hashable {
        package var buffer: ObjectIdentifier
        package var bytes: Range<Int>

        package init(buffer: ObjectIdentifier, bytes: Range<Int>) {
            self.buffer = buffer
            self.bytes = bytes
        }

        package init(_ range: BufferRange) {
            self.init(
                buffer: ObjectIdentifier(range.buffer), bytes: range.offset..<range.offset + range.byteCount)
        }

        func conflicts(with other: Access) -> Bool { buffer == other.buffer && bytes.overlaps(other.bytes) }
    }

    private var reads: [Access] = []
    private var writes: [Access] = []

    package init() {}

    /// Notes the accesses of the next dispatch; true where a barrier must stand before it.
    package mutating func next(reads newReads: [Access], writes newWrites: [Access]) -> Bool {
        let conflict =
            newReads.contains { read in writes.contains { $0.conflicts(with: read) } }
            || newWrites.contains { write in
                writes.contains { $0.conflicts(with: write) } || reads.contains { $0.conflicts(with: write) }
            }
        if conflict { clear() }
        reads += newReads
        writes += newWrites
        return conflict
    }

    /// Forgets everything: a barrier stands here.
    package mutating func clear() {
        reads.removeAll(keepingCapacity: true)
        writes.removeAll(keepingCapacity: true)
    }
}
