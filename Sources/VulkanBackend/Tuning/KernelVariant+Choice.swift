import VulkanCompute

extension KernelVariant {
    /// The variant that is taken without measuring.
    package static func standard(for shape: ConvolutionShape, _ settings: PlanSettings) -> KernelVariant {
        // Large where there is enough work for all of it.
        let isLarge = shape.kind != .depthwise && shape.pixels >= 4 * settings.localSize
        let tile = isLarge ? Tile(4, min(shape.outputBlocks, 2)) : Tile(1, 1)
        return KernelVariant(settings.readPath.reading(shape, blocks: tile.blocks), tile, localSize: settings.localSize)
    }

    /// What is worth measuring for a shape on a device: the standard variant, then others.
    package static func candidates(
        for shape: ConvolutionShape, _ settings: PlanSettings, _ level: TuningLevel, on limits: DeviceLimits
    ) -> [KernelVariant] {
        let standard = standard(for: shape, settings)
        let quickTiles = [Tile(4, 2), Tile(4, 1), Tile(2, 2), Tile(1, 1)]
        let others = all(shape.kind).filter { variant in
            level == .full
                || (!variant.usesSharedMemory && variant.readPath != .uniform && quickTiles.contains(variant.tile))
        }
        return [standard] + others.filter { $0 != standard && $0.isPossible(for: shape, settings, on: limits) }
    }

    /// The same with workgroups of other sizes, as far as a device has them.
    func inOtherSizes(on limits: DeviceLimits) -> [KernelVariant] {
        guard !usesSharedMemory else { return [] }
        return [32, 128, 256].filter { $0 != localSize && $0 <= limits.workgroupInvocations }.map { size in
            var variant = self
            variant.localSize = size
            return variant
        }
    }

    /// Whether a device can compute a shape so, and no part of the tile is in vain.
    package func isPossible(for shape: ConvolutionShape, _ settings: PlanSettings, on limits: DeviceLimits) -> Bool {
        guard all(shape.kind, has: self), localSize <= limits.workgroupInvocations, tile.pixels <= shape.pixels,
            tile.blocks <= shape.outputBlocks, sharedByteCount <= limits.sharedMemoryByteCount
        else { return false }
        guard readPath != .storage else { return true }
        let groups = (shape.outputBlocks + tile.blocks - 1) / tile.blocks
        let weights = readPath == .texels ? groups * (shape.rows + 1) * tile.blocks : 0
        let texels = [
            shape.inputBlocks * shape.input.pixelCount * shape.batch, shape.outputBlocks * shape.pixels, weights,
        ]
        guard texels.allSatisfy({ $0 <= limits.texelBufferElements }) else { return false }
        guard readPath == .uniform else { return true }
        return limits.uniformBuffersPerStage >= WeightBlocks.count
            && limits.uniformBufferRange >= WeightBlocks.byteCount
            && readPath.reading(shape, blocks: tile.blocks) == .uniform
    }

    private func all(_ kind: ConvolutionKind, has variant: KernelVariant) -> Bool {
        var sized = variant
        sized.localSize = 64
        return Self.all(kind).contains(sized) && (!usesSharedMemory || localSize == 64)
    }
}

extension ReadPath {
    /// The same, or through the texture units where a shape's weights do not fit into uniform blocks.
    func reading(_ shape: ConvolutionShape, blocks: Int) -> ReadPath {
        guard self == .uniform else { return self }
        return PackedConvolution.fitsUniformBlocks(rows: shape.rows, outputs: shape.output.channels, blocks: blocks)
            ? .uniform : .texels
    }
}
