import CPUKernels
import ModelGraph

/// Pixels that every register tile divides, for all panel widths and instruction sets but the last few.
private let tileMultiple = 24

/// A 1x1 convolution at stride 1: one matrix product over the pixels, straight from the arena.
final class PointwiseStep: Step, @unchecked Sendable {
    private let source, destination: TensorID
    private let residual: TensorID?
    private let input, output: BlockedLayout
    private let weights: PackedWeights
    private let activation: CKActivation
    private let pixels: Tasks
    /// Panels in a task: all of them, unless there are too few pixels to keep the threads busy.
    private let panels: Tasks
    private let bias: ConvolutionBias

    init(_ layer: Layer, _ convolution: Convolution, _ builder: StepBuilder) {
        source = layer.inputs[0]
        destination = layer.output
        residual = layer.residual
        input = builder.layout(source)
        output = builder.layout(destination)
        activation = layer.activation.kernel
        weights = PackedWeights(
            convolution, inputChannels: input.shape.channels, channelsPerTap: input.shape.channels, lanes: builder.lanes
        )
        bias = ConvolutionBias(weights.bias, plus: layer.pictureBias)
        // A task's pixels stay in the second-level cache while one panel after another reads them.
        let cached = 32_768 / input.shape.channels / tileMultiple * tileMultiple
        let even = input.shape.pixelCount / (builder.threadCount * 8) / tileMultiple * tileMultiple
        let chunk = builder.threadCount == 1 ? cached : min(cached, even)
        pixels = Tasks(count: input.shape.pixelCount, size: max(tileMultiple, chunk))
        let isStarved = pixels.taskCount < 2 * builder.threadCount
        panels = Tasks(count: weights.panels.count, size: isStarved ? 1 : weights.panels.count)
    }

    func run(_ context: StepContext) {
        let bias = bias.values(context)
        let panelTasks = panels.taskCount
        context.pool.forEach(pixels.taskCount * panelTasks) { task, _ in
            let range = pixels.range(task / panelTasks)
            let at = range.lowerBound * input.lanes
            var product = CKProduct()
            product.source = UnsafePointer(context[source] + at)
            product.sourcePixel = input.lanes
            product.sourceBlock = input.blockStride
            product.channels = input.shape.channels
            product.destinationBlock = output.blockStride
            product.residualBlock = output.blockStride
            product.pixels = range.count
            product.activation = activation
            for index in panels.range(task % panelTasks) {
                let panel = weights.panels[index]
                product.weights = UnsafePointer(weights.values.pointer + panel.offset)
                product.bias = UnsafePointer(bias + panel.block * output.lanes)
                product.destination = context[destination] + panel.block * output.blockStride + at
                if let residual {
                    product.residual = UnsafePointer(context[residual] + panel.block * output.blockStride + at)
                }
                context.kernels.product(&product, Int32(panel.vectors))
            }
        }
    }
}

/// Any other convolution: the source pixels of a few outputs are gathered, tap by tap, into a tile that the product kernel reads.
final class ConvolutionStep: Step, @unchecked Sendable {
    private let source, destination: TensorID
    private let residual: TensorID?
    private let input, output: BlockedLayout
    private let convolution: Convolution
    private let weights: PackedWeights
    private let activation: CKActivation
    private let pixels: Tasks
    /// Consecutive taps that are gathered and multiplied together.
    private let groups: [Range<Int>]
    private let bias: ConvolutionBias

    private static let tilePixels = 2 * tileMultiple

    init(_ layer: Layer, _ convolution: Convolution, _ builder: inout StepBuilder) {
        source = layer.inputs[0]
        destination = layer.output
        residual = layer.residual
        input = builder.layout(source)
        output = builder.layout(destination)
        activation = layer.activation.kernel
        self.convolution = convolution
        let channels = input.blocks * builder.lanes
        weights = PackedWeights(
            convolution, inputChannels: input.shape.channels, channelsPerTap: channels, lanes: builder.lanes)
        bias = ConvolutionBias(weights.bias, plus: layer.pictureBias)
        let taps = convolution.kernel.height * convolution.kernel.width
        // Long sums per call, short enough that the gathered tile stays in the cache.
        let together = max(1, 512 / channels)
        groups = stride(from: 0, to: taps, by: together).map { $0..<min($0 + together, taps) }
        pixels = Tasks(count: output.shape.pixelCount, size: Self.tilePixels)
        builder.needScratch(Self.tilePixels * (together * channels + 1))
    }

    func run(_ context: StepContext) {
        let bias = bias.values(context)
        context.pool.forEach(pixels.taskCount) { task, thread in
            runTile(pixels.range(task), context, bias, context.scratch(of: thread))
        }
    }

    private func runTile(
        _ range: Range<Int>, _ context: StepContext, _ bias: UnsafeMutablePointer<Float>,
        _ scratch: UnsafeMutablePointer<Float>
    ) {
        let lanes = input.lanes
        let at = range.lowerBound * lanes
        let tileBlock = Self.tilePixels * lanes
        let index = UnsafeMutableRawPointer(scratch).assumingMemoryBound(to: Int32.self)
        let tile = scratch + Self.tilePixels
        var product = CKProduct()
        product.source = UnsafePointer(tile)
        product.sourcePixel = lanes
        product.sourceBlock = tileBlock
        product.destinationBlock = output.blockStride
        product.residualBlock = output.blockStride
        product.pixels = range.count
        product.activation = activation
        for (number, group) in groups.enumerated() {
            var isEmpty = true
            for (slot, tap) in group.enumerated() {
                if index.fill(tap, of: convolution, range, input.shape, output.shape) { isEmpty = false }
                context.kernels.gather(
                    context[source], input.blockStride, input.blocks, index, range.count,
                    tile + slot * input.blocks * tileBlock, tileBlock)
            }
            let isLast = number == groups.count - 1
            // Taps that lie wholly in the padding add nothing; the first and the last call are made for bias and activation.
            if isEmpty && number > 0 && !isLast { continue }
            product.channels = isEmpty ? 0 : group.count * weights.channelsPerTap
            product.continues = number > 0
            product.unfinished = !isLast
            for panel in weights.panels {
                let width = panel.vectors * lanes
                product.weights = UnsafePointer(
                    weights.values.pointer + panel.offset + group.lowerBound * weights.channelsPerTap * width)
                product.bias = UnsafePointer(bias + panel.block * lanes)
                product.destination = context[destination] + panel.block * output.blockStride + at
                if let residual {
                    product.residual = UnsafePointer(context[residual] + panel.block * output.blockStride + at)
                }
                context.kernels.product(&product, Int32(panel.vectors))
            }
        }
    }
}

extension UnsafeMutablePointer<Int32> {
    /// Writes the source pixel that a tap reads for each output pixel of a range, -1 in the padding; false if all are.
    fileprivate func fill(
        _ tap: Int, of convolution: Convolution, _ range: Range<Int>, _ input: Shape, _ output: Shape
    ) -> Bool {
        let ky = tap / convolution.kernel.width * convolution.dilation.height - convolution.padding.top
        let kx = tap % convolution.kernel.width * convolution.dilation.width - convolution.padding.left
        var y = range.lowerBound / output.width
        var x = range.lowerBound % output.width
        var any = false
        for slot in 0..<range.count {
            let sy = y * convolution.stride.height + ky
            let sx = x * convolution.stride.width + kx
            let isInside = sy >= 0 && sy < input.height && sx >= 0 && sx < input.width
            self[slot] = isInside ? Int32(truncatingIfNeeded: sy * input.width + sx) : -1
            any = any || isInside
            x += 1
            if x == output.width {
                x = 0
                y += 1
            }
        }
        return any
    }
}
