import CPUKernels
import ModelGraph

/// A transposed convolution: for each phase of the output grid, an ordinary convolution with the taps that meet it.
///
/// With stride s, output row y gets `in[i] * w[ky]` for all i and ky with `i * s + ky - top == y`. Rows with equal
/// `(y + top) mod s` share their taps, and so do columns: s * s phases, each a matrix product over gathered pixels.
final class TransposeConvolutionStep: Step, @unchecked Sendable {
    private struct Phase: Sendable {
        /// First output row and column of the phase, and how many there are.
        let first: Extent
        let count: Extent
        let taps: [(ky: Int, kx: Int)]
        let weights: PackedWeights
    }

    private let source, destination: TensorID
    private let input, output: BlockedLayout
    private let convolution: Convolution
    private let activation: CKActivation
    private let phases: [Phase]

    /// Output pixels that are computed together.
    static let tilePixels = ModelMemory.tilePixels

    init(_ layer: Layer, _ convolution: Convolution, _ builder: inout StepBuilder) {
        source = layer.inputs[0]
        destination = layer.output
        let input = builder.layout(source)
        let output = builder.layout(destination)
        self.input = input
        self.output = output
        self.convolution = convolution
        activation = layer.activation.kernel
        let stride = convolution.stride
        let kernel = convolution.kernel
        let padding = convolution.padding
        let lanes = builder.lanes
        let values = convolution.weights.floats()
        let bias = convolution.bias?.floats()
        var phases: [Phase] = []
        var mostTaps = 0
        for row in 0..<min(stride.height, output.shape.height) {
            for column in 0..<min(stride.width, output.shape.width) {
                let taps = (0..<kernel.height).filter { ($0 - row - padding.top) % stride.height == 0 }.flatMap { ky in
                    (0..<kernel.width).filter { ($0 - column - padding.left) % stride.width == 0 }.map {
                        (ky: ky, kx: $0)
                    }
                }
                mostTaps = max(mostTaps, taps.count)
                let packed = PackedWeights(
                    outputs: output.shape.channels, taps: taps.count, channels: input.shape.channels,
                    channelsPerTap: input.blocks * lanes, bias: bias, lanes: lanes
                ) { out, tap, channel in
                    values[
                        ((out * input.shape.channels + channel) * kernel.height + taps[tap].ky) * kernel.width
                            + taps[tap].kx]
                }
                phases.append(
                    Phase(
                        first: Extent(height: row, width: column),
                        count: Extent(
                            height: (output.shape.height - row + stride.height - 1) / stride.height,
                            width: (output.shape.width - column + stride.width - 1) / stride.width),
                        taps: taps, weights: packed))
            }
        }
        self.phases = phases
        builder.needScratch(Self.tilePixels * (1 + (max(1, mostTaps) * input.blocks + output.blocks) * lanes))
    }

    func run(_ context: StepContext) {
        for phase in phases {
            let pixels = Tasks(count: phase.count.height * phase.count.width, size: Self.tilePixels)
            context.pool.forEach(pixels.taskCount) { task, thread in
                runTile(phase, pixels.range(task), context, context.scratch(of: thread))
            }
        }
    }

    private func runTile(
        _ phase: Phase, _ range: Range<Int>, _ context: StepContext, _ scratch: UnsafeMutablePointer<Float>
    ) {
        let lanes = input.lanes
        let tileBlock = Self.tilePixels * lanes
        let index = UnsafeMutableRawPointer(scratch).assumingMemoryBound(to: Int32.self)
        let tile = scratch + Self.tilePixels
        let result = tile + phase.taps.count * input.blocks * tileBlock
        let stride = convolution.stride
        let padding = convolution.padding
        for (slot, tap) in phase.taps.enumerated() {
            for (place, pixel) in range.enumerated() {
                // Exact for the phase's taps, and negative where the source row would be.
                let y = phase.first.height + pixel / phase.count.width * stride.height + padding.top - tap.ky
                let x = phase.first.width + pixel % phase.count.width * stride.width + padding.left - tap.kx
                let isInside =
                    y >= 0 && x >= 0 && y / stride.height < input.shape.height && x / stride.width < input.shape.width
                index[place] =
                    isInside
                    ? Int32(truncatingIfNeeded: y / stride.height * input.shape.width + x / stride.width) : -1
            }
            context.kernels.gather(
                context[source], input.blockStride, input.blocks, index, range.count,
                tile + slot * input.blocks * tileBlock, tileBlock)
        }
        var product = CKProduct()
        product.source = UnsafePointer(tile)
        product.sourcePixel = lanes
        product.sourceBlock = tileBlock
        product.channels = phase.taps.count * phase.weights.channelsPerTap
        product.destinationBlock = tileBlock
        product.pixels = range.count
        product.activation = activation
        for panel in phase.weights.panels {
            product.weights = UnsafePointer(phase.weights.values.pointer + panel.offset)
            product.bias = UnsafePointer(phase.weights.bias.pointer + panel.block * lanes)
            product.destination = result + panel.block * tileBlock
            context.kernels.product(&product, Int32(panel.vectors))
        }
        for (place, pixel) in range.enumerated() {
            let y = phase.first.height + pixel / phase.count.width * stride.height
            let x = phase.first.width + pixel % phase.count.width * stride.width
            index[place] = Int32(truncatingIfNeeded: y * output.shape.width + x)
        }
        context.kernels.scatter(
            result, tileBlock, output.blocks, index, range.count, context[destination], output.blockStride)
    }
}
