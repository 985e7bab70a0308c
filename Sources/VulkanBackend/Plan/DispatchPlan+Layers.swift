import ModelGraph
import VulkanCompute

extension DispatchPlan {
    mutating func append(_ layer: Layer) {
        switch layer.operation {
        case .convolution(let convolution):
            if convolution.isMatrixProduct {
                appendPointwise(layer, convolution)
            } else {
                appendConvolution(layer, convolution)
            }
        case .depthwiseConvolution(let convolution): appendDepthwise(layer, convolution)
        case .transposeConvolution(let convolution): appendTranspose(layer, convolution)
        case .add: appendBinary(layer, operation: 0)
        case .multiply: appendBinary(layer, operation: 1)
        case .activation: appendBinary(layer, operation: 2)
        case .concatenate: appendWithSeparateEpilogue(layer) { $0.appendConcatenation($1) }
        case .globalAveragePool: appendGlobalAveragePool(layer)
        case .averagePool(let pool): appendPool(layer, pool, isAverage: true)
        case .maxPool(let pool): appendPool(layer, pool, isAverage: false)
        case .resizeBilinear(_, let convention): appendResize(layer, convention)
        case .softmax: appendWithSeparateEpilogue(layer) { $0.appendChannels($1, "softmax") }
        case .argMax: appendWithSeparateEpilogue(layer) { $0.appendChannels($1, "arg_max") }
        }
    }

    func shape(_ id: TensorID) -> Shape { graph.shape(of: id) }

    /// Blocks of 4 channels.
    func blocks(_ id: TensorID) -> Int { (shape(id).channels + 3) / 4 }

    /// Pixels of all pictures.
    func pixels(_ id: TensorID) -> Int { shape(id).pixelCount * settings.batch }

    /// The first four specialisation constants, which most shaders share.
    func commonConstants(_ layer: Layer, localSize: Int? = nil) -> [UInt32] {
        [
            UInt32(localSize ?? settings.localSize), layer.activation.code, layer.residual == nil ? 0 : 1,
            layer.pictureBias == nil ? 0 : 1,
        ]
    }

    /// What a layer's epilogue adds: the residual and the picture's bias, in the order of the shaders.
    func epilogueBindings(_ layer: Layer) -> [PlannedBinding] {
        [layer.residual.map(PlannedBinding.source) ?? .unused, layer.pictureBias.map(PlannedBinding.source) ?? .unused]
    }

    /// Workgroups for `count` invocations.
    func workgroups(_ count: Int) -> Int { (count + settings.localSize - 1) / settings.localSize }

    /// Adds a dispatch of a shader without weights.
    mutating func addDispatch(
        _ layer: Layer, _ shader: String, bindings: [PlannedBinding], constants: [UInt32], push: [UInt32],
        workgroups: (x: Int, y: Int, z: Int)
    ) {
        // Without weights there is nothing that uniform blocks could hold.
        let readPath: ReadPath = settings.readPath == .storage ? .storage : .texels
        add(
            PlannedDispatch(
                layer: layer.name,
                kernel: Kernel(
                    shader: shader,
                    variant: "FLOAT16=\(settings.precision == .float16 ? 1 : 0) READ_PATH=\(readPath.rawValue)",
                    constants: constants, interface: interface(bindings, push, readPath)),
                bindings: bindings, pushConstants: push, workgroups: workgroups))
    }

    func interface(_ bindings: [PlannedBinding], _ push: [UInt32], _ readPath: ReadPath) -> ShaderInterface {
        ShaderInterface(
            bindings: bindings.map { binding in
                switch binding {
                case .destination, .table: .storageBuffer
                case .source, .unused: readPath == .storage ? .storageBuffer : .texelBuffer
                case .weights:
                    switch readPath {
                    case .storage: .storageBuffer
                    case .texels: .texelBuffer
                    case .uniform: .uniformBuffer(count: WeightBlocks.count)
                    }
                }
            }, pushConstantsByteCount: push.count * 4)
    }

    /// For shaders without an epilogue: the residual and the picture's bias are added in place by a dispatch of their own,
    /// before the activation. The passes never make such a layer.
    private mutating func appendWithSeparateEpilogue(_ layer: Layer, _ append: (inout DispatchPlan, Layer) -> Void) {
        guard layer.residual != nil || layer.pictureBias != nil else { return append(&self, layer) }
        var bare = layer
        bare.residual = nil
        bare.pictureBias = nil
        bare.activation = .none
        append(&self, bare)
        var epilogue = layer
        epilogue.inputs = [layer.output]
        appendBinary(epilogue, operation: 2)
    }

    private mutating func appendBinary(_ layer: Layer, operation: UInt32) {
        let (a, b) = (layer.inputs[0], layer.inputs.count > 1 ? layer.inputs[1] : nil)
        let output = shape(layer.output)
        func repeats(_ id: TensorID?) -> UInt32 {
            guard let id else { return 0 }
            return shape(id).pixelCount == 1 && output.pixelCount > 1 ? 1 : 0
        }
        addDispatch(
            layer, "binary",
            bindings: [.destination(layer.output), .source(a), b.map(PlannedBinding.source) ?? .unused]
                + epilogueBindings(layer),
            constants: commonConstants(layer) + [operation, repeats(a), repeats(b)],
            push: [UInt32(settings.batch), UInt32(output.pixelCount)],
            workgroups: (workgroups(pixels(layer.output)), blocks(layer.output), 1))
    }

    private mutating func appendConcatenation(_ layer: Layer) {
        var channel = 0
        let last = blocks(layer.output)
        for (index, input) in layer.inputs.enumerated() {
            let next = channel + shape(input).channels
            // The blocks whose first channel is this input's.
            let first = (channel + 3) / 4
            let end = min((next + 3) / 4, last)
            if first < end {
                let sources = (index..<index + 4).map { layer.inputs.indices.contains($0) ? layer.inputs[$0] : nil }
                addDispatch(
                    layer, "concatenate",
                    bindings: [.destination(layer.output)] + sources.map { $0.map(PlannedBinding.source) ?? .unused },
                    constants: [UInt32(settings.localSize), layer.activation.code],
                    push: [UInt32(pixels(layer.output)), UInt32(first), UInt32(channel)]
                        + sources.map { UInt32($0.map { shape($0).channels } ?? 0) },
                    workgroups: (workgroups(pixels(layer.output)), end - first, 1))
            }
            channel = next
        }
    }

    private mutating func appendGlobalAveragePool(_ layer: Layer) {
        addDispatch(
            layer, "global_average_pool",
            bindings: [.destination(layer.output), .source(layer.inputs[0])] + epilogueBindings(layer),
            constants: commonConstants(layer),
            push: [UInt32(settings.batch), UInt32(shape(layer.inputs[0]).pixelCount)],
            workgroups: (settings.batch, blocks(layer.output), 1))
    }

    private mutating func appendPool(_ layer: Layer, _ pool: Pool, isAverage: Bool) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        addDispatch(
            layer, "pool",
            bindings: [.destination(layer.output), .source(layer.inputs[0])] + epilogueBindings(layer),
            constants: commonConstants(layer) + [isAverage ? 1 : 0, pool.countsPadding ? 1 : 0],
            push: [
                settings.batch, input.height, input.width, output.height, output.width, pool.padding.top,
                pool.padding.left, pool.kernel.height, pool.kernel.width, pool.stride.height, pool.stride.width,
            ].map(UInt32.init),
            workgroups: (workgroups(pixels(layer.output)), blocks(layer.output), 1))
    }

    private mutating func appendResize(_ layer: Layer, _ convention: ResizeConvention) {
        let (input, output) = (shape(layer.inputs[0]), shape(layer.output))
        let taps =
            convention.taps(from: input.height, to: output.height)
            + convention.taps(from: input.width, to: output.width)
        let table = add(
            PlannedConstant(
                layout: .table,
                words: taps.flatMap { [UInt32($0.first), UInt32($0.second), Float($0.share).bitPattern, 0] }))
        addDispatch(
            layer, "resize_bilinear",
            bindings: [.destination(layer.output), .source(layer.inputs[0])] + epilogueBindings(layer) + [
                .table(table)
            ],
            constants: commonConstants(layer),
            push: [settings.batch, input.height, input.width, output.height, output.width].map(UInt32.init),
            workgroups: (workgroups(pixels(layer.output)), blocks(layer.output), 1))
    }

    /// Soft-max and arg-max: an invocation sees all channels of its pixel.
    private mutating func appendChannels(_ layer: Layer, _ shader: String) {
        addDispatch(
            layer, shader, bindings: [.destination(layer.output), .source(layer.inputs[0])],
            constants: [UInt32(settings.localSize), layer.activation.code],
            push: [UInt32(pixels(layer.output)), UInt32(shape(layer.inputs[0]).channels)],
            workgroups: (workgroups(pixels(layer.output)), 1, 1))
    }
}

extension Activation {
    /// As Shaders/include/activation.glsl counts them.
    var code: UInt32 {
        switch self {
        case .none: 0
        case .relu: 1
        case .relu6: 2
        case .hardSwish: 3
        case .hardSigmoid: 4
        case .sigmoid: 5
        }
    }
}
