import ModelGraph

/// How an activation lies in memory: `[block of channels][pixel][lane]`.
///
/// A register kernel reads neighbouring pixels of one block, and a depthwise kernel keeps its weights in registers while it
/// runs over a block's pixels. Lanes past the last channel hold finite values that never reach a channel.
struct BlockedLayout: Sendable {
    let shape: Shape
    /// Floats in a vector register of the instruction set.
    let lanes: Int

    /// Blocks of channels.
    var blocks: Int { (shape.channels + lanes - 1) / lanes }
    /// Floats from one block to the next.
    var blockStride: Int { shape.pixelCount * lanes }
    /// Floats altogether.
    var floatCount: Int { blocks * blockStride }
}

/// Memory of float32 values, aligned for every vector, zero at first.
final class FloatBuffer: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<Float>
    let count: Int

    init(count: Int) {
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
