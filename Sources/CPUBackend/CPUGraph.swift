import CPUKernels
import ModelGraph

/// A graph that is ready to run on the processor: packed steps and one arena for all tensors between them.
///
/// Pictures of a batch run one after another through the same arena, so a batch gives what its pictures give alone.
final class CPUGraph: CompiledGraph, @unchecked Sendable {
    let graph: Graph
    let batch: Int
    let arenaByteCount: Int

    private let backend: CPUBackend
    private let steps: [[any Step]]
    private let arena: FloatBuffer
    private let scratch: FloatBuffer
    private let scratchStride: Int
    /// Where each tensor lies. Inputs that are read as they come lie in the caller's memory.
    private let places: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    private let inputs: [(id: TensorID, layout: BlockedLayout, isBlocked: Bool)]
    private let outputs: [(id: TensorID, layout: BlockedLayout)]

    init(_ graph: Graph, batch: Int, backend: CPUBackend) throws(CPUBackendError) {
        precondition(batch > 0)
        self.graph = graph
        self.batch = batch
        self.backend = backend
        var builder = StepBuilder(
            graph: graph, lanes: Int(backend.kernels.lanes), threadCount: backend.pool.threadCount)

        let plain = Set(graph.inputs.filter { graph.isReadUnblocked($0) })
        let requests = graph.memoryRequests(excluding: plain, builder.layout)
        let plan = MemoryPlan(requests.map(\.request), alignment: 64)
        // Of graphs that come from no file, too, and with the threads that there are.
        let limit = ModelLimits.mostMemoryByteCount
        var byteCount = plan.byteCount
        for layer in graph.layers {
            byteCount +=
                graph.packedByteCount(of: layer, lanes: builder.lanes) + graph.gatheredByteCount(of: layer, builder)
            guard byteCount <= limit else { throw .tooLarge(byteCount: byteCount, limit: limit) }
        }
        arenaByteCount = plan.byteCount
        steps = graph.layers.map { builder.steps(for: $0, plain: plain) }
        scratchStride = builder.scratchCount
        scratch = FloatBuffer(count: builder.scratchCount * backend.pool.threadCount)
        arena = FloatBuffer(count: plan.byteCount / MemoryLayout<Float>.stride)
        places = .allocate(capacity: graph.tensors.count)
        places.initialize(repeating: arena.pointer, count: graph.tensors.count)
        for (request, offset) in zip(requests, plan.offsets) {
            places[request.id.index] = arena.pointer + offset / MemoryLayout<Float>.stride
        }
        inputs = graph.inputs.map { ($0, builder.layout($0), !plain.contains($0)) }
        outputs = graph.outputs.map { ($0, builder.layout($0)) }
    }

    deinit { places.deallocate() }

    func run(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) {
        forEachPicture(inputs, outputs) { context in
            for steps in steps {
                for step in steps { step.run(context) }
            }
        }
    }

    func profile(
        _ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]
    ) -> [Double] {
        var seconds = [Double](repeating: 0, count: steps.count)
        let clock = ContinuousClock()
        forEachPicture(inputs, outputs) { context in
            for (index, steps) in steps.enumerated() {
                let elapsed = clock.measure { for step in steps { step.run(context) } }
                seconds[index] += Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
            }
        }
        return seconds
    }

    private func forEachPicture(
        _ sources: [UnsafeBufferPointer<Float>], _ targets: [UnsafeMutableBufferPointer<Float>],
        _ body: (StepContext) -> Void
    ) {
        precondition(
            sources.count == inputs.count && targets.count == outputs.count, "a buffer for each input and output")
        let kernels = backend.kernels
        let context = StepContext(
            kernels: kernels, pool: backend.pool, tensors: places, scratch: scratch.pointer,
            scratchStride: scratchStride)
        for picture in 0..<batch {
            for (input, source) in zip(inputs, sources) {
                let count = input.layout.shape.elementCount
                precondition(source.count == batch * count, "an input of \(source.count) values, not \(batch * count)")
                guard let base = source.baseAddress else { continue }
                if input.isBlocked {
                    kernels.block(
                        base + picture * count, input.layout.shape.channels, input.layout.shape.pixelCount,
                        places[input.id.index], input.layout.blockStride)
                } else {
                    // Steps only read their inputs.
                    places[input.id.index] = UnsafeMutablePointer(mutating: base + picture * count)
                }
            }
            body(context)
            for (output, target) in zip(outputs, targets) {
                let count = output.layout.shape.elementCount
                precondition(target.count == batch * count, "an output of \(target.count) values, not \(batch * count)")
                guard let base = target.baseAddress else { continue }
                kernels.unblock(
                    places[output.id.index], output.layout.blockStride, output.layout.shape.channels,
                    output.layout.shape.pixelCount, base + picture * count)
            }
        }
    }
}

extension Graph {
    /// Whether an input's only readers are first convolutions, which take `[pixel][channel]`.
    fileprivate func isReadUnblocked(_ input: TensorID) -> Bool {
        !outputs.contains(input)
            && layers.allSatisfy { layer in
                !layer.reads.contains(input) || (layer.inputs == [input] && FirstConvolutionStep.suits(layer, self))
            }
    }

    /// Bytes in which the threads gather the source of a transposed convolution, at most.
    fileprivate func gatheredByteCount(of layer: Layer, _ builder: StepBuilder) -> Int {
        guard case .transposeConvolution(let convolution) = layer.operation else { return 0 }
        let input = builder.layout(layer.inputs[0])
        return convolution.kernel.height * convolution.kernel.width * input.blocks * input.lanes
            * TransposeConvolutionStep.tilePixels * builder.threadCount * MemoryLayout<Float>.stride
    }

    /// The memory of every tensor that lies in the arena, and the layers between which it is needed.
    fileprivate func memoryRequests(excluding plain: Set<TensorID>, _ layout: (TensorID) -> BlockedLayout)
        -> [(id: TensorID, request: MemoryRequest)]
    {
        let lifetimes = lifetimes
        return (inputs + layers.map(\.output)).filter { !plain.contains($0) }.map { id in
            let lifetime = lifetimes[id.index]
            let bytes = layout(id).floatCount * MemoryLayout<Float>.stride
            return (id, MemoryRequest(byteCount: bytes, first: lifetime.lowerBound, last: lifetime.upperBound))
        }
    }
}

extension StepBuilder {
    /// The steps that do a layer's work, in order.
    fileprivate mutating func steps(for layer: Layer, plain: Set<TensorID>) -> [any Step] {
        switch layer.operation {
        case .convolution(let convolution):
            if plain.contains(layer.inputs[0]) { return [FirstConvolutionStep(layer, convolution, &self)] }
            if convolution.isPointwise && convolution.stride == Extent(1) {
                return [PointwiseStep(layer, convolution, self)]
            }
            return [ConvolutionStep(layer, convolution, &self)]
        case .depthwiseConvolution(let convolution): return [DepthwiseStep(layer, convolution, self)]
        default: break
        }
        // What has no place for a residual or a picture's bias gets them afterwards, and its activation last.
        let terms = [layer.pictureBias, layer.residual].compactMap(\.self)
        var bare = layer
        if !terms.isEmpty { bare.activation = .none }
        var steps: [any Step] =
            switch layer.operation {
            case .convolution, .depthwiseConvolution: []
            case .transposeConvolution(let convolution): [TransposeConvolutionStep(bare, convolution, &self)]
            case .add: [BinaryStep(.add, bare.inputs[0], bare.inputs[1], to: bare.output, bare.activation, self)]
            case .multiply:
                [BinaryStep(.multiply, bare.inputs[0], bare.inputs[1], to: bare.output, bare.activation, self)]
            case .concatenate: [ConcatenateStep(bare, self)]
            case .globalAveragePool: [GlobalAveragePoolStep(bare, self)]
            case .averagePool(let pool): [PoolStep(bare, pool, isAverage: true, self)]
            case .maxPool(let pool): [PoolStep(bare, pool, isAverage: false, self)]
            case .resizeBilinear(_, let convention): [ResizeStep(bare, convention, self)]
            case .softmax: [ChannelStep(.softmax, bare, self)]
            case .argMax: [ChannelStep(.argMax, bare, self)]
            case .activation: [ActivationStep(bare, self)]
            }
        let takesActivation: Bool =
            switch layer.operation {
            case .concatenate, .softmax, .argMax: false
            case .convolution, .depthwiseConvolution, .transposeConvolution, .add, .multiply, .globalAveragePool,
                .averagePool, .maxPool, .resizeBilinear, .activation:
                true
            }
        if terms.isEmpty && !takesActivation && layer.activation != .none {
            steps.append(ActivationStep(inPlace: layer.output, layer.activation, self))
        }
        for (index, term) in terms.enumerated() {
            let activation = index == terms.count - 1 ? layer.activation : .none
            steps.append(BinaryStep(.add, layer.output, term, to: layer.output, activation, self))
        }
        return steps
    }
}
