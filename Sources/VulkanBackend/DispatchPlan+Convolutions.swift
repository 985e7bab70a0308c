import ModelGraph
import VulkanCompute

extension DispatchPlan {
    mutating func appendPointwise(_ layer: Layer, _ convolution: Convolution) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        let tile = tile(pixels: pixels(layer.output), blocks: blocks(layer.output))
        let access = access(rows: input.channels, outputs: output.channels, blocks: tile.blocks)
        let packed = convolution.packed(
            inputChannels: input.channels, blocks: tile.blocks, inUniformBlocks: access == .uniform)
        addConvolution(
            layer, "pointwise", tile, access, packed, constants: commonConstants(layer),
            push: [
                pixels(layer.output), output.pixelCount, settings.batch, input.channels, blocks(layer.output),
                packed.groupsPerSlice,
            ])
    }

    mutating func appendConvolution(_ layer: Layer, _ convolution: Convolution) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        let tile = tile(pixels: pixels(layer.output), blocks: blocks(layer.output))
        let taps = convolution.kernel.height * convolution.kernel.width
        let access = access(rows: taps * input.channels, outputs: output.channels, blocks: tile.blocks)
        let packed = convolution.packed(
            inputChannels: input.channels, blocks: tile.blocks, inUniformBlocks: access == .uniform)
        addConvolution(
            layer, "convolution", tile, access, packed,
            constants: commonConstants(layer) + windowConstants(convolution),
            push: [
                settings.batch, input.height, input.width, output.height, output.width, convolution.padding.top,
                convolution.padding.left, input.channels, blocks(layer.output), packed.groupsPerSlice,
            ])
    }

    mutating func appendDepthwise(_ layer: Layer, _ convolution: Convolution) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        let taps = convolution.kernel.height * convolution.kernel.width
        let access = access(rows: taps, outputs: output.channels, blocks: 1)
        let packed = convolution.packedDepthwise(inUniformBlocks: access == .uniform)
        addConvolution(
            layer, "depthwise", nil, access, packed,
            constants: commonConstants(layer) + windowConstants(convolution),
            push: [
                settings.batch, input.height, input.width, output.height, output.width, convolution.padding.top,
                convolution.padding.left, packed.groupsPerSlice,
            ])
    }

    mutating func appendTranspose(_ layer: Layer, _ convolution: Convolution) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        let taps = convolution.kernel.height * convolution.kernel.width
        let access = access(rows: taps * input.channels, outputs: output.channels, blocks: 1)
        let packed = convolution.packed(inputChannels: input.channels, blocks: 1, inUniformBlocks: access == .uniform)
        addConvolution(
            layer, "transpose_convolution", nil, access, packed,
            constants: commonConstants(layer)
                + [
                    convolution.kernel.height, convolution.kernel.width, convolution.stride.height,
                    convolution.stride.width,
                ].map(UInt32.init),
            push: [
                settings.batch, input.height, input.width, output.height, output.width, convolution.padding.top,
                convolution.padding.left, input.channels, packed.groupsPerSlice,
            ])
    }

    private func windowConstants(_ convolution: Convolution) -> [UInt32] {
        [
            convolution.kernel.height, convolution.kernel.width, convolution.stride.height, convolution.stride.width,
            convolution.dilation.height, convolution.dilation.width,
        ].map(UInt32.init)
    }

    /// The way to read a layer's weights: uniform blocks where they fit.
    private func access(rows: Int, outputs: Int, blocks: Int) -> Access {
        guard settings.access == .uniform else { return settings.access }
        return PackedConvolution.fitsUniformBlocks(rows: rows, outputs: outputs, blocks: blocks) ? .uniform : .texels
    }

    /// The tile of a convolution: large where there is enough work for all of it.
    private func tile(pixels: Int, blocks: Int) -> Tile {
        pixels >= 4 * settings.localSize ? Tile(pixels: 4, blocks: min(blocks, 2)) : Tile(pixels: 1, blocks: 1)
    }

    private mutating func addConvolution(
        _ layer: Layer, _ shader: String, _ tile: Tile?, _ access: Access, _ packed: PackedConvolution,
        constants: [UInt32], push: [Int]
    ) {
        let stored =
            settings.precision == .float16 ? packed.values.map { float(fromHalf: halfBits(of: $0)) } : packed.values
        let words = stored.map(\.bitPattern)
        let weights = add(
            PlannedConstant(
                kind: access == .uniform ? .uniformBlocks(slices: packed.sliceCount) : .weights(access), words: words))
        let bindings: [PlannedBinding] =
            [.destination(layer.output), .source(layer.inputs[0]), .weights(weights)] + terms(layer)
        let push = push.map(UInt32.init)
        let tileName = tile.map { " TILE=\($0.name)" } ?? ""
        add(
            PlannedDispatch(
                layer: layer.name,
                kernel: Kernel(
                    shader: shader,
                    variant: "FLOAT16=\(settings.precision == .float16 ? 1 : 0) ACCESS=\(access.rawValue)\(tileName)",
                    constants: constants, interface: interface(bindings, push, access)),
                bindings: bindings, pushConstants: push,
                groups: (
                    groups((pixels(layer.output) + (tile?.pixels ?? 1) - 1) / (tile?.pixels ?? 1)), packed.groupCount, 1
                )))
    }
}
