import Base
import DeviceSupport
import ModelGraph
import TestSupport
import VulkanBackend
import VulkanCompute

/// A device whose times a test makes up, and its clock, which only measurements move on.
final class FakeTiming: Sendable {
    struct State {
        var time = 0.0
        var measured: [(shape: ConvolutionShape, variant: KernelVariant)] = []
        var timerCount = 0
    }

    let state = Locked(State())
    /// How long a variant takes; nil where it gives other bytes.
    let seconds: @Sendable (ConvolutionShape, KernelVariant) throws(VulkanError) -> Double?
    /// What each measurement costs.
    let cost: Double
    /// Makes preparing a layer fail.
    let preparing: @Sendable (ConvolutionShape) throws(VulkanError) -> Void

    init(
        cost: Double = 0.001, preparing: @escaping @Sendable (ConvolutionShape) throws(VulkanError) -> Void = { _ in },
        seconds: @escaping @Sendable (ConvolutionShape, KernelVariant) throws(VulkanError) -> Double?
    ) {
        self.cost = cost
        self.preparing = preparing
        self.seconds = seconds
    }

    var measured: [(shape: ConvolutionShape, variant: KernelVariant)] { state.withLock(\.measured) }

    /// A tuner that measures here.
    func tuner(_ level: TuningLevel, _ record: TuningRecord, shaders: String = "some") throws -> Tuner {
        Tuner(
            level, limits: try TestDevice.open().physical.limits, record: record, shaderDigest: shaders,
            now: { self.state.withLock(\.time) },
            prepare: {
                { alone, settings throws(VulkanError) in
                    let shape = ConvolutionShape(alone.layers[0], in: alone, batch: settings.batch)!
                    try self.preparing(shape)
                    self.state.withLock { $0.timerCount += 1 }
                    return Timer(device: self, shape: shape)
                }
            })
    }

    private final class Timer: LayerTiming {
        let device: FakeTiming
        let shape: ConvolutionShape

        init(device: FakeTiming, shape: ConvolutionShape) {
            self.device = device
            self.shape = shape
        }

        func seconds(_ variant: KernelVariant) throws(VulkanError) -> Double? {
            device.state.withLock {
                $0.time += device.cost
                $0.measured.append((shape, variant))
            }
            return try device.seconds(shape, variant)
        }
    }
}

/// Two pairs of convolutions of equal shape, a depthwise one, and a few other layers.
enum TuningGraph {
    static let settings = PlanSettings(batch: 1, precision: .float32, readPath: .texels)

    static func make() throws -> Graph {
        var random = SeededGenerator(seed: 3)
        var graph = Graph(name: "tuning")
        func convolution(_ from: Int, _ to: Int, _ kernel: Int = 1) -> Convolution {
            Convolution(
                weights: random.weights([to, from, kernel, kernel], fanIn: from * kernel * kernel),
                bias: random.bias(to), padding: Padding(kernel / 2))
        }
        let input = graph.addInput("picture", Shape(height: 19, width: 21, channels: 8))
        var map = input
        for index in 0..<2 {
            map = try graph.append("dense\(index)", .convolution(convolution(8, 8, 3)), [map], activation: .relu)
        }
        let wide = try graph.append("expand", .convolution(convolution(8, 24)), [map], activation: .relu6)
        let depthwise = Convolution(
            weights: random.weights([24, 1, 3, 3], fanIn: 9), bias: random.bias(24), padding: Padding(1))
        var deep = try graph.append("depthwise", .depthwiseConvolution(depthwise), [wide], activation: .relu6)
        for index in 0..<2 { deep = try graph.append("mix\(index)", .convolution(convolution(24, 24)), [deep]) }
        let narrow = try graph.append("project", .convolution(convolution(24, 8)), [deep], residual: map)
        graph.outputs = [try graph.append("softmax", .softmax, [narrow])]
        return graph
    }

    /// The shapes of its convolutions, each once.
    static func shapes() throws -> Set<ConvolutionShape> {
        let graph = try make()
        return Set(graph.layers.compactMap { ConvolutionShape($0, in: graph, batch: 1) })
    }
}
