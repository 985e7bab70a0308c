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
        var words = packed.values.map(\.bitPattern)
        if settings.precision == .float16 { words = words.map(roundedToFloat16) }
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

/// The bits of a float32 rounded to the nearest float16 (ties to even) and back: what float16 storage makes of a weight.
func roundedToFloat16(_ bits: UInt32) -> UInt32 {
    let value = Float(bitPattern: bits)
    let magnitude = abs(value)
    guard magnitude.isFinite else { return bits }
    if magnitude >= 65_520 { return (value < 0 ? -Float.infinity : .infinity).bitPattern }
    // Adding and subtracting a power of two rounds to its unit in the last place: 2^-24 for subnormal numbers of float16.
    let exponent = max(magnitude == 0 ? -14 : Int(magnitude.exponent), -14)
    let shift = Float(sign: .plus, exponent: exponent + 13, significand: 1.5)
    return ((value + shift) - shift).bitPattern
}
