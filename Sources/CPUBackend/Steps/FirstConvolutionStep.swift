import CPUKernels
import ModelGraph

/// A convolution of the network's input, which has few channels and lies as `[pixel][channel]`.
///
/// The taps of one kernel row lie in one run of the source: `kernel width * channels` values, and the next output's run
/// begins `stride * channels` further on. So each kernel row is a matrix product straight from the source row (copied
/// once, with its padding), and no lanes are wasted on channels that are not there.
final class FirstConvolutionStep: Step, @unchecked Sendable {
    private let source, destination: TensorID
    private let input: Shape
    private let output: BlockedLayout
    private let convolution: Convolution
    private let weights: PackedWeights
    private let activation: CKActivation
    private let rows: Tasks
    /// Columns of a source row with the padding that the outputs reach into.
    private let paddedWidth: Int

    init(_ layer: Layer, _ convolution: Convolution, _ builder: inout StepBuilder) {
        source = layer.inputs[0]
        destination = layer.output
        input = builder.graph.shape(of: source)
        output = builder.layout(destination)
        self.convolution = convolution
        activation = layer.activation.kernel
        weights = PackedWeights(
            convolution, inputChannels: input.channels, channelsPerTap: input.channels, lanes: builder.lanes)
        rows = Tasks(count: output.shape.height, size: 4)
        paddedWidth = (output.shape.width - 1) * convolution.stride.width + convolution.kernel.width
        builder.needScratch(paddedWidth * input.channels)
    }

    /// Whether this step can do a layer that reads an input.
    static func suits(_ layer: Layer, _ graph: Graph) -> Bool {
        guard case .convolution(let convolution) = layer.operation else { return false }
        return convolution.groups == 1 && convolution.dilation.width == 1 && layer.residual == nil
            && layer.pictureBias == nil && graph.shape(of: layer.inputs[0]).channels <= 4
    }

    func run(_ context: StepContext) {
        context.pool.forEach(rows.taskCount) { task, thread in
            for row in rows.range(task) { compute(row, context, context.scratch(of: thread)) }
        }
    }

    private func compute(_ row: Int, _ context: StepContext, _ line: UnsafeMutablePointer<Float>) {
        let kernel = convolution.kernel
        var product = CKProduct()
        product.source = UnsafePointer(line)
        product.sourcePixel = convolution.stride.width * input.channels
        product.sourceBlock = output.lanes
        product.destinationBlock = output.blockStride
        product.pixels = output.shape.width
        product.activation = activation
        for ky in 0..<kernel.height {
            let y = row * convolution.stride.height + ky * convolution.dilation.height - convolution.padding.top
            let isLast = ky == kernel.height - 1
            let isInside = y >= 0 && y < input.height
            // A row of padding adds nothing; the first and the last call are made for bias and activation.
            if !isInside && ky > 0 && !isLast { continue }
            if isInside { copy(y, context, to: line) }
            product.channels = isInside ? kernel.width * input.channels : 0
            product.continues = ky > 0
            product.unfinished = !isLast
            for panel in weights.panels {
                product.weights = UnsafePointer(
                    weights.values.pointer + panel.offset
                        + ky * kernel.width * input.channels * panel.vectors * output.lanes)
                product.bias = UnsafePointer(weights.bias.pointer + panel.block * output.lanes)
                product.destination =
                    context[destination] + panel.block * output.blockStride + row * output.shape.width * output.lanes
                context.kernels.product(&product, Int32(panel.vectors))
            }
        }
    }

    /// Copies a source row between its padding.
    private func copy(_ y: Int, _ context: StepContext, to line: UnsafeMutablePointer<Float>) {
        let channels = input.channels
        let left = min(convolution.padding.left, paddedWidth)
        let inside = min(input.width, paddedWidth - left)
        let right = paddedWidth - left - inside
        line.update(repeating: 0, count: left * channels)
        (line + left * channels).update(
            from: context[source] + y * input.width * channels, count: inside * channels)
        (line + (left + inside) * channels).update(repeating: 0, count: right * channels)
    }
}
