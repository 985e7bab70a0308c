import VulkanCompute

/// A way to compute a convolution. All give the same bytes; which is the fastest depends on the device.
package struct KernelVariant: Hashable, Sendable {
    package var readPath: ReadPath
    /// What one invocation computes.
    package var tile: Tile
    /// Invocations in a workgroup.
    package var localSize: Int
    /// Whether a workgroup brings what it reads into shared memory: Shaders/pointwise_shared.comp.
    package var usesSharedMemory: Bool

    package init(_ readPath: ReadPath, _ tile: Tile, localSize: Int = 64, usesSharedMemory: Bool = false) {
        self.readPath = readPath
        self.tile = tile
        self.localSize = localSize
        self.usesSharedMemory = usesSharedMemory
    }

    /// Columns and rows of invocations in a workgroup that shares memory.
    static let sharedGrid = (columns: 16, rows: 4)

    /// Bytes of shared memory that a workgroup takes.
    var sharedByteCount: Int {
        guard usesSharedMemory else { return 0 }
        // 4 blocks of activations, and 16 rows of weights, as vec4.
        return 16 * (4 * Self.sharedGrid.columns * tile.pixels + 16 * Self.sharedGrid.rows * tile.blocks)
    }

    /// The shader that computes a kind of convolution so.
    func shader(_ kind: ConvolutionKind) -> String {
        switch kind {
        case .pointwise: usesSharedMemory ? "pointwise_shared" : "pointwise"
        case .depthwise: "depthwise"
        case .dense: "convolution"
        }
    }

    /// Everything that is compiled for a kind of convolution, with workgroups of one size.
    package static func all(_ kind: ConvolutionKind) -> [KernelVariant] {
        let tiles: [Tile] =
            switch kind {
            case .pointwise: [Tile(4, 4), Tile(4, 2), Tile(4, 1), Tile(2, 2), Tile(1, 1)]
            case .depthwise: [Tile(4, 1), Tile(2, 1), Tile(1, 1)]
            case .dense: [Tile(4, 4), Tile(4, 2), Tile(4, 1), Tile(1, 1)]
            }
        let plain = ReadPath.allCases.flatMap { readPath in tiles.map { KernelVariant(readPath, $0) } }
        guard kind == .pointwise else { return plain }
        return plain
            + [ReadPath.storage, .texels].flatMap { readPath in
                [Tile(4, 2), Tile(4, 4)].map { KernelVariant(readPath, $0, usesSharedMemory: true) }
            }
    }
}

extension KernelVariant: CustomStringConvertible {
    /// As in `texels 4x2 64` or `storage 4x4 64 shared`.
    package var description: String { "\(readPath) \(tile.name) \(localSize)\(usesSharedMemory ? " shared" : "")" }

    /// Reads what `description` gives.
    init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard (3...4).contains(words.count), words.count == 3 || words[3] == "shared",
            let readPath = ReadPath.allCases.first(where: { "\($0)" == words[0] }),
            let localSize = Int(words[2]), [32, 64, 128, 256].contains(localSize)
        else { return nil }
        let sides = words[1].split(separator: "x").map { Int($0) }
        guard sides.count == 2, let pixels = sides[0], let blocks = sides[1] else { return nil }
        self.init(readPath, Tile(pixels, blocks), localSize: localSize, usesSharedMemory: words.count == 4)
    }
}
