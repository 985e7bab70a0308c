import ModelGraph
import VulkanCompute

extension DispatchPlan {
    mutating func appendPointwise(_ layer: Layer, _ convolution: Convolution) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        let variant = variant(of: layer)
        let packed = convolution.packed(
            inputChannels: input.channels, blocks: variant.tile.blocks, inUniformBlocks: variant.readPath == .uniform)
        addConvolution(
            layer, variant.shader(.pointwise), variant, packed, constants: [],
            push: [
                pixels(layer.output), output.pixelCount, settings.batch, input.channels, blocks(layer.output),
                packed.groupsPerSlice,
            ])
    }

    mutating func appendConvolution(_ layer: Layer, _ convolution: Convolution) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        let variant = variant(of: layer)
        let packed = convolution.packed(
            inputChannels: input.channels, blocks: variant.tile.blocks, inUniformBlocks: variant.readPath == .uniform)
        addConvolution(
            layer, variant.shader(.dense), variant, packed, constants: windowConstants(convolution),
            push: [
                settings.batch, input.height, input.width, output.height, output.width, convolution.padding.top,
                convolution.padding.left, input.channels, blocks(layer.output), packed.groupsPerSlice,
            ])
    }

    mutating func appendDepthwise(_ layer: Layer, _ convolution: Convolution) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        let variant = variant(of: layer)
        let packed = convolution.packedDepthwise(inUniformBlocks: variant.readPath == .uniform)
        addConvolution(
            layer, variant.shader(.depthwise), variant, packed, constants: windowConstants(convolution),
            push: [
                settings.batch, input.height, input.width, output.height, output.width, convolution.padding.top,
                convolution.padding.left, packed.groupsPerSlice,
            ])
    }

    /// Transposed convolutions have one tile, and are not tuned.
    mutating func appendTranspose(_ layer: Layer, _ convolution: Convolution) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        let rows = convolution.kernel.height * convolution.kernel.width * input.channels
        let isUniform =
            settings.readPath == .uniform
            && PackedConvolution.fitsUniformBlocks(rows: rows, outputs: output.channels, blocks: 1)
        let readPath = settings.readPath == .uniform && !isUniform ? .texels : settings.readPath
        let packed = convolution.packed(inputChannels: input.channels, blocks: 1, inUniformBlocks: isUniform)
        addConvolution(
            layer, "transpose_convolution", KernelVariant(readPath, Tile(1, 1), localSize: settings.localSize), packed,
            constants: [
                convolution.kernel.height, convolution.kernel.width, convolution.stride.height,
                convolution.stride.width,
            ],
            push: [
                settings.batch, input.height, input.width, output.height, output.width, convolution.padding.top,
                convolution.padding.left, input.channels, packed.groupsPerSlice,
            ], isTiled: false)
    }

    private func variant(of layer: Layer) -> KernelVariant {
        guard let shape = ConvolutionShape(layer, in: graph, batch: settings.batch) else {
            preconditionFailure("a layer without variants")
        }
        return settings.variant(for: shape)
    }

    private func windowConstants(_ convolution: Convolution) -> [Int] {
        [
            convolution.kernel.height, convolution.kernel.width, convolution.stride.height, convolution.stride.width,
            convolution.dilation.height, convolution.dilation.width,
        ]
    }

    /// - Parameters:
    ///   - constants: Specialisation constants after those that most shaders share.
    ///   - isTiled: Whether the shader is compiled for several tiles.
    private mutating func addConvolution(
        _ layer: Layer, _ shader: String, _ variant: KernelVariant, _ packed: PackedConvolution, constants: [Int],
        push: [Int], isTiled: Bool = true
    ) {
        let isHalf = settings.precision == .float16
        let stored = isHalf ? packed.values.map { float(fromHalf: halfBits(of: $0)) } : packed.values
        let weights = add(
            PlannedConstant(
                layout: variant.readPath == .uniform
                    ? .uniformBlocks(slices: packed.sliceCount) : .weights(variant.readPath),
                words: stored.map(\.bitPattern)))
        let bindings: [PlannedBinding] =
            [.destination(layer.output), .source(layer.inputs[0]), .weights(weights)] + epilogueBindings(layer)
        let push = push.map(UInt32.init)
        let macros = "FLOAT16=\(isHalf ? 1 : 0) READ_PATH=\(variant.readPath.rawValue)"
        add(
            PlannedDispatch(
                layer: layer.name,
                kernel: Kernel(
                    shader: shader, variant: isTiled ? "\(macros) TILE=\(variant.tile.name)" : macros,
                    constants: commonConstants(layer, localSize: variant.localSize) + constants.map(UInt32.init),
                    interface: interface(bindings, push, variant.readPath)),
                bindings: bindings, pushConstants: push,
                workgroups: variant.workgroups(pixels: pixels(layer.output), groups: packed.groupCount)))
    }
}

extension KernelVariant {
    /// Workgroups for so many pixels and groups of output blocks.
    fileprivate func workgroups(pixels: Int, groups: Int) -> (x: Int, y: Int, z: Int) {
        let (columns, rows) = usesSharedMemory ? (Self.sharedGrid.columns, Self.sharedGrid.rows) : (localSize, 1)
        return (
            (pixels + columns * tile.pixels - 1) / (columns * tile.pixels), (groups + rows - 1) / rows, 1
        )
    }
}
