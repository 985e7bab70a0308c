import VulkanCompute

/// How a shader reads its activations and weights.
package enum ReadPath: Int, Sendable, CaseIterable {
    /// Both from storage buffers, by address: what every device can do.
    case storage = 0
    /// Both through the texture units.
    case texels = 1
    /// Activations through the texture units, weights from uniform blocks.
    case uniform = 2
}

/// Bytes of one uniform block of weights, and how many blocks a shader can have: see Shaders/include/weights.glsl.
enum WeightBlocks {
    static let byteCount = 65_536
    static let count = 8
}

/// The tile of a convolution: pixels and blocks of 4 output channels that one invocation computes.
package struct Tile: Hashable, Sendable {
    package var pixels: Int
    package var blocks: Int

    package init(_ pixels: Int, _ blocks: Int) {
        self.pixels = pixels
        self.blocks = blocks
    }

    var name: String { "\(pixels)x\(blocks)" }
}
