import ModelGraph

/// How an activation lies in memory: `[block of channels][pixel][lane]`. oneDNN calls it nChw8c or nChw16c.
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
