import CPUKernels
import ModelGraph

/// A depthwise convolution, a few rows of one block of channels a task.
final class DepthwiseStep: Step, @unchecked Sendable {
    private let source, destination: TensorID
    private let residual: TensorID?
    private let input, output: BlockedLayout
    private let weights: FloatBuffer
    private let bias: ConvolutionBias
    private let taps: Int
    private let rows: Tasks
    private let zeros: FloatBuffer
    private let window: CKWindow

    init(_ layer: Layer, _ convolution: Convolution, _ builder: StepBuilder) {
        source = layer.inputs[0]
        destination = layer.output
        residual = layer.residual
        input = builder.layout(source)
        output = builder.layout(destination)
        taps = convolution.kernel.height * convolution.kernel.width
        let lanes = builder.lanes
        weights = FloatBuffer(count: input.blocks * taps * lanes)
        for (index, value) in convolution.weights.floats().enumerated() {
            let (channel, tap) = (index / taps, index % taps)
            weights.pointer[(channel / lanes * taps + tap) * lanes + channel % lanes] = value
        }
        let bias = FloatBuffer(count: input.blocks * lanes)
        for (channel, value) in (convolution.bias?.floats() ?? []).enumerated() { bias.pointer[channel] = value }
        self.bias = ConvolutionBias(bias, plus: layer.pictureBias)
        zeros = FloatBuffer(count: input.shape.width * lanes)
        rows = Tasks(rowsOf: output, threads: builder.threadCount)
        var window = CKWindow(from: input, to: output)
        window.kernelHeight = convolution.kernel.height
        window.kernelWidth = convolution.kernel.width
        window.strideHeight = convolution.stride.height
        window.strideWidth = convolution.stride.width
        window.dilationHeight = convolution.dilation.height
        window.dilationWidth = convolution.dilation.width
        window.top = convolution.padding.top
        window.left = convolution.padding.left
        window.activation = layer.activation.kernel
        window.zeros = UnsafePointer(zeros.pointer)
        self.window = window
    }

    func run(_ context: StepContext) {
        let bias = bias.values(context)
        context.pool.forEach(output.blocks * rows.taskCount) { task, _ in
            let block = task / rows.taskCount
            var window = window
            window.setRows(rows.range(task % rows.taskCount))
            window.source = UnsafePointer(context[source] + block * input.blockStride)
            window.destination = context[destination] + block * output.blockStride
            window.weights = UnsafePointer(weights.pointer + block * taps * output.lanes)
            window.bias = UnsafePointer(bias + block * output.lanes)
            if let residual { window.residual = UnsafePointer(context[residual] + block * output.blockStride) }
            context.kernels.depthwise(&window)
        }
    }
}

/// An average or a maximum in a sliding window.
final class PoolStep: Step, @unchecked Sendable {
    private let source, destination: TensorID
    private let input, output: BlockedLayout
    private let rows: Tasks
    private let isAverage: Bool
    private let window: CKWindow

    init(_ layer: Layer, _ pool: Pool, isAverage: Bool, _ builder: StepBuilder) {
        source = layer.inputs[0]
        destination = layer.output
        input = builder.layout(source)
        output = builder.layout(destination)
        rows = Tasks(rowsOf: output, threads: builder.threadCount)
        self.isAverage = isAverage
        var window = CKWindow(from: input, to: output)
        window.kernelHeight = pool.kernel.height
        window.kernelWidth = pool.kernel.width
        window.strideHeight = pool.stride.height
        window.strideWidth = pool.stride.width
        window.dilationHeight = 1
        window.dilationWidth = 1
        window.top = pool.padding.top
        window.left = pool.padding.left
        window.countsPadding = pool.countsPadding
        window.activation = layer.activation.kernel
        self.window = window
    }

    func run(_ context: StepContext) {
        context.pool.forEach(output.blocks * rows.taskCount) { task, _ in
            let block = task / rows.taskCount
            var window = window
            window.setRows(rows.range(task % rows.taskCount))
            window.source = UnsafePointer(context[source] + block * input.blockStride)
            window.destination = context[destination] + block * output.blockStride
            if isAverage { context.kernels.averagePool(&window) } else { context.kernels.maxPool(&window) }
        }
    }
}

extension Tasks {
    /// Rows of one block in a task: enough tasks for the threads over all blocks, and at least about 256 pixels each.
    fileprivate init(rowsOf layout: BlockedLayout, threads: Int) {
        let height = layout.shape.height
        let wanted = max(1, threads * 8 / layout.blocks)
        let size = max((height + wanted - 1) / wanted, min(height, (256 + layout.shape.width - 1) / layout.shape.width))
        self.init(count: height, size: size)
    }
}

extension CKWindow {
    fileprivate init(from input: BlockedLayout, to output: BlockedLayout) {
        self.init()
        sourceHeight = input.shape.height
        sourceWidth = input.shape.width
        destinationWidth = output.shape.width
    }

    fileprivate mutating func setRows(_ rows: Range<Int>) {
        firstRow = rows.lowerBound
        endRow = rows.upperBound
    }
}
