/// Memory of float32 values at an address that does not change, aligned for every vector, zero at first.
package final class FloatBuffer: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<Float>
    let count: Int

    package var mutableValues: UnsafeMutableBufferPointer<Float> {
        UnsafeMutableBufferPointer(start: pointer, count: count)
    }
    package var values: UnsafeBufferPointer<Float> { UnsafeBufferPointer(mutableValues) }

    /// Takes memory for `count` values and clears it.
    package init(count: Int) {
        self.count = count
        let bytes = max(64, count * MemoryLayout<Float>.stride)
        pointer = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64).bindMemory(
            to: Float.self, capacity: bytes / MemoryLayout<Float>.stride)
        pointer.initialize(repeating: 0, count: bytes / MemoryLayout<Float>.stride)
    }

    convenience init(_ values: [Float]) {
        self.init(count: values.count)
        values.withUnsafeBufferPointer { source in
            if let base = source.baseAddress { pointer.update(from: base, count: source.count) }
        }
    }

    deinit { UnsafeMutableRawPointer(pointer).deallocate() }
}
