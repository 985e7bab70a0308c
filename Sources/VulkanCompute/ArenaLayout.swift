/// Offsets of parts of one buffer, handed out one after another: a linear allocator.
///
/// For what lives as long as the buffer: weights, tables. Tensors between layers get their places from a memory plan.
package struct ArenaLayout: Sendable {
    /// Every part begins at a multiple of this many bytes.
    package let alignment: Int
    /// Bytes handed out so far.
    package private(set) var byteCount = 0

    package init(alignment: Int) {
        precondition(alignment > 0)
        self.alignment = alignment
    }

    /// Reserves `byteCount` bytes and gives their offset.
    package mutating func reserve(_ byteCount: Int) -> Int {
        let offset = self.byteCount
        self.byteCount = (offset + byteCount + alignment - 1) / alignment * alignment
        return offset
    }
}
