import CPUKernels
import ModelGraph

/// Sum or product of two tensors, either of which may be 1x1.
final class BinaryStep: Step, @unchecked Sendable {
    enum Arithmetic { case add, multiply }

    private let arithmetic: Arithmetic
    private let a, b, destination: TensorID
    private let aLayout, bLayout, output: BlockedLayout
    private let activation: CKActivation
    private let pixels: Tasks

    init(
        _ arithmetic: Arithmetic, _ a: TensorID, _ b: TensorID, to destination: TensorID, _ activation: Activation,
        _ builder: StepBuilder
    ) {
        self.arithmetic = arithmetic
        self.a = a
        self.b = b
        self.destination = destination
        aLayout = builder.layout(a)
        bLayout = builder.layout(b)
        output = builder.layout(destination)
        self.activation = activation.kernel
        pixels = Tasks(count: output.shape.pixelCount, size: 1024)
    }

    func run(_ context: StepContext) {
        let lanes = output.lanes
        let aStep = aLayout.shape.pixelCount == 1 ? 0 : lanes
        let bStep = bLayout.shape.pixelCount == 1 ? 0 : lanes
        context.pool.forEach(output.blocks * pixels.taskCount) { task, _ in
            let block = task / pixels.taskCount
            let range = pixels.range(task % pixels.taskCount)
            let a = context[a] + block * aLayout.blockStride + range.lowerBound * aStep
            let b = context[b] + block * bLayout.blockStride + range.lowerBound * bStep
            let destination = context[destination] + block * output.blockStride + range.lowerBound * lanes
            switch arithmetic {
            case .add: context.kernels.add(a, aStep, b, bStep, destination, range.count, activation)
            case .multiply: context.kernels.multiply(a, aStep, b, bStep, destination, range.count, activation)
            }
        }
    }
}

/// A function of every value.
final class ActivationStep: Step, @unchecked Sendable {
    private let source, destination: TensorID
    private let values: Tasks
    private let lanes: Int
    private let activation: CKActivation
    private let zero: FloatBuffer

    private init(_ source: TensorID, _ destination: TensorID, _ activation: Activation, _ builder: StepBuilder) {
        self.source = source
        self.destination = destination
        let layout = builder.layout(destination)
        lanes = layout.lanes
        values = Tasks(count: layout.blocks * layout.shape.pixelCount, size: 1024)
        self.activation = activation.kernel
        zero = FloatBuffer(count: layout.lanes)
    }

    convenience init(_ layer: Layer, _ builder: StepBuilder) {
        self.init(layer.inputs[0], layer.output, layer.activation, builder)
    }

    convenience init(inPlace tensor: TensorID, _ activation: Activation, _ builder: StepBuilder) {
        self.init(tensor, tensor, activation, builder)
    }

    func run(_ context: StepContext) {
        context.pool.forEach(values.taskCount) { task, _ in
            let range = values.range(task)
            let at = range.lowerBound * lanes
            context.kernels.add(
                context[source] + at, lanes, zero.pointer, 0, context[destination] + at, range.count, activation)
        }
    }
}

/// Mean of each channel over the map.
final class GlobalAveragePoolStep: Step, @unchecked Sendable {
    private let source, destination: TensorID
    private let input: BlockedLayout
    private let activation: CKActivation

    init(_ layer: Layer, _ builder: StepBuilder) {
        source = layer.inputs[0]
        destination = layer.output
        input = builder.layout(source)
        activation = layer.activation.kernel
    }

    func run(_ context: StepContext) {
        context.pool.forEach(input.blocks) { block, _ in
            context.kernels.mean(
                context[source] + block * input.blockStride, input.shape.pixelCount,
                context[destination] + block * input.lanes, activation)
        }
    }
}

/// Channels of several tensors one after another.
final class ConcatenateStep: Step, @unchecked Sendable {
    private let sources: [TensorID]
    private let inputs: [BlockedLayout]
    private let destination: TensorID
    private let output: BlockedLayout
    private let pixels: Tasks

    init(_ layer: Layer, _ builder: StepBuilder) {
        sources = layer.inputs
        inputs = layer.inputs.map(builder.layout)
        destination = layer.output
        output = builder.layout(destination)
        pixels = Tasks(count: output.shape.pixelCount, size: 256)
    }

    func run(_ context: StepContext) {
        let lanes = output.lanes
        context.pool.forEach(pixels.taskCount) { task, _ in
            let range = pixels.range(task)
            if output.shape.channels % lanes != 0 {
                // The lanes past the last channel: nobody else writes them, and they must be finite.
                let last = context[destination] + (output.blocks - 1) * output.blockStride
                (last + range.lowerBound * lanes).update(repeating: 0, count: range.count * lanes)
            }
            var channel = 0
            for (id, input) in zip(sources, inputs) {
                let source = context[id]
                if channel % lanes == 0 {
                    for block in 0..<input.blocks {
                        let from = source + block * input.blockStride + range.lowerBound * lanes
                        let to =
                            context[destination] + (channel / lanes + block) * output.blockStride
                            + range.lowerBound * lanes
                        to.update(from: from, count: range.count * lanes)
                    }
                } else {
                    for offset in 0..<input.shape.channels {
                        let from = source + offset / lanes * input.blockStride + offset % lanes
                        let place = channel + offset
                        let to = context[destination] + place / lanes * output.blockStride + place % lanes
                        for pixel in range { to[pixel * lanes] = from[pixel * lanes] }
                    }
                }
                channel += input.shape.channels
            }
        }
    }
}

/// Bilinear resize, a row of one block a task.
final class ResizeStep: Step, @unchecked Sendable {
    private let source, destination: TensorID
    private let input, output: BlockedLayout
    private let rows, columns: [CKTap]
    private let activation: CKActivation

    init(_ layer: Layer, _ convention: ResizeConvention, _ builder: StepBuilder) {
        source = layer.inputs[0]
        destination = layer.output
        input = builder.layout(source)
        output = builder.layout(destination)
        rows = convention.taps(from: input.shape.height, to: output.shape.height).map(CKTap.init(_:))
        columns = convention.taps(from: input.shape.width, to: output.shape.width).map(CKTap.init(_:))
        activation = layer.activation.kernel
    }

    func run(_ context: StepContext) {
        let rowStride = input.shape.width * input.lanes
        context.pool.forEach(output.blocks * output.shape.height) { task, _ in
            let (block, y) = task.quotientAndRemainder(dividingBy: output.shape.height)
            let from = context[source] + block * input.blockStride
            columns.withUnsafeBufferPointer { columns in
                context.kernels.resizeRow(
                    from + Int(rows[y].first) * rowStride, from + Int(rows[y].second) * rowStride, rows[y].share,
                    columns.baseAddress, columns.count,
                    context[destination] + block * output.blockStride + y * output.shape.width * output.lanes,
                    activation)
            }
        }
    }
}

/// Soft-max over the channels of each pixel, or the index of the largest.
final class ChannelStep: Step, @unchecked Sendable {
    enum Function { case softmax, argMax }

    private let function: Function
    private let source, destination: TensorID
    private let input, output: BlockedLayout
    private let pixels: Tasks

    init(_ function: Function, _ layer: Layer, _ builder: StepBuilder) {
        self.function = function
        source = layer.inputs[0]
        destination = layer.output
        input = builder.layout(source)
        output = builder.layout(destination)
        pixels = Tasks(count: input.shape.pixelCount, size: 256)
    }

    func run(_ context: StepContext) {
        context.pool.forEach(pixels.taskCount) { task, _ in
            let range = pixels.range(task)
            let from = context[source] + range.lowerBound * input.lanes
            let to = context[destination] + range.lowerBound * output.lanes
            switch function {
            case .softmax:
                context.kernels.softmax(
                    from, input.blockStride, input.shape.channels, range.count, to, output.blockStride)
            case .argMax:
                context.kernels.argMax(from, input.blockStride, input.shape.channels, range.count, to)
            }
        }
    }
}

extension CKTap {
    fileprivate init(_ tap: ResizeTap) {
        self.init(first: Int32(tap.first), second: Int32(tap.second), share: Float(tap.share))
    }
}
