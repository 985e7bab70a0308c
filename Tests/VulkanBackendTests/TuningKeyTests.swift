import DeviceSupport
import ModelGraph
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

/// One convolution, and how it is computed: what the tuner tells from others.
private struct TunedWork {
    var kind = ConvolutionKind.dense
    var size = Extent(height: 19, width: 21)
    var (inputs, outputs) = (8, 8)
    var (kernel, stride, dilation, padding) = (3, 1, 1, 1)
    var activation = Activation.relu
    var (hasResidual, hasPictureBias) = (false, false)
    var batch = 1
    var precision = StoragePrecision.float32
    var readPath = ReadPath.texels
    var shaders = "some"
    var (name, seed) = ("convolution", UInt64(3))

    var settings: PlanSettings { PlanSettings(batch: batch, precision: precision, readPath: readPath) }

    func graph() throws -> Graph {
        var random = SeededGenerator(seed: seed)
        var graph = Graph(name: "one")
        let input = graph.addInput("picture", Shape(height: size.height, width: size.width, channels: inputs))
        let isDeep = kind == .depthwise
        let weights = Convolution(
            weights: random.weights([outputs, isDeep ? 1 : inputs, kernel, kernel], fanIn: inputs * kernel * kernel),
            bias: random.bias(outputs), stride: Extent(stride), dilation: Extent(dilation), padding: Padding(padding))
        let bias =
            hasPictureBias
            ? graph.addInput("bias", Shape(height: 1, width: 1, channels: outputs)) : nil
        let result = try graph.append(
            name, isDeep ? .depthwiseConvolution(weights) : .convolution(weights), [input], activation: activation,
            residual: hasResidual ? input : nil, pictureBias: bias)
        graph.outputs = [result]
        return graph
    }

    /// Whether it is measured, or known from the record.
    func isMeasured(_ folder: String, _ identity: PhysicalDevice.CacheIdentity) throws -> Bool {
        let device = FakeTiming { _, _ in 1 }
        let record = TuningRecord(folder: folder, identity: identity)
        _ = try device.tuner(.quick, record, shaders: shaders).variants(for: graph(), settings)
        return !device.measured.isEmpty
    }
}

@Suite("What the tuner knows again", .needsVulkan)
struct TuningKeyTests {
    private static let changes: [(String, @Sendable (inout TunedWork) -> Void)] = [
        ("kind", { $0.kind = .depthwise }), ("height", { $0.size.height += 1 }), ("width", { $0.size.width += 1 }),
        ("input channels", { $0.inputs = 12 }), ("output channels", { $0.outputs = 12 }),
        ("kernel", { ($0.kernel, $0.padding) = (5, 2) }), ("stride", { $0.stride = 2 }),
        ("dilation", { ($0.dilation, $0.padding) = (2, 2) }), ("padding", { $0.padding = 0 }),
        ("activation", { $0.activation = .relu6 }), ("residual", { $0.hasResidual = true }),
        ("picture bias", { $0.hasPictureBias = true }), ("batch", { $0.batch = 2 }),
        ("precision", { $0.precision = .float16 }), ("read path", { $0.readPath = .storage }),
        ("shaders", { $0.shaders = "others" }),
    ]

    @Test("Each part of the work makes it other work; its name and its weights do not")
    func parts() throws {
        let identity = try TestDevice.open().physical.cacheIdentity
        try withScratchFolder { folder throws in
            #expect(try TunedWork().isMeasured(folder, identity))
            for (name, change) in Self.changes {
                var work = TunedWork()
                change(&work)
                #expect(try work.isMeasured(folder, identity), "\(name) is no part of the key")
                #expect(try !work.isMeasured(folder, identity), "\(name)")
            }
            var same = TunedWork()
            (same.name, same.seed) = ("another", 9)
            #expect(try !same.isMeasured(folder, identity))
        }
    }

    @Test("Other shaders have another digest, and the same ones the same")
    func digest() {
        let (one, other) = (ShaderLibrary.breaking("depthwise"), ShaderLibrary.breaking("pointwise"))
        #expect(Set([ShaderLibrary.shared.digest, one.digest, other.digest]).count == 3)
        #expect(one.digest == ShaderLibrary.breaking("depthwise").digest)
    }

    @Test("A variant that gives other bytes is found out, whichever it is", arguments: ConvolutionKind.allCases)
    func brokenVariants(kind: ConvolutionKind) throws {
        var work = TunedWork()
        (work.kind, work.inputs, work.outputs) = (kind, 32, 32)
        if kind == .pointwise { (work.kernel, work.padding) = (1, 0) }
        let (graph, settings) = (try work.graph(), work.settings)
        let device = try TestDevice.open()
        let shape = try #require(ConvolutionShape(graph.layers[0], in: graph, batch: 1))
        let standard = KernelVariant.standard(for: shape, settings)
        let others = KernelVariant.all(kind).filter {
            $0 != standard && $0.isPossible(for: shape, settings, on: device.physical.limits)
        }
        #expect(others.count >= 5)
        #expect(others.contains(where: \.usesSharedMemory) == (kind == .pointwise))
        let right = try LayerTimer(graph, settings, device, PipelineStore(device, folder: nil))
        #expect(try right.seconds(standard) != nil)
        for variant in others {
            #expect(try right.seconds(variant) != nil, "\(variant)")
            let suffix = "READ_PATH=\(variant.readPath.rawValue) TILE=\(variant.tile.pixels)x\(variant.tile.blocks)"
            let shader =
                switch kind {
                case .pointwise: variant.usesSharedMemory ? "pointwise_shared" : "pointwise"
                case .depthwise: "depthwise"
                case .dense: "convolution"
                }
            let broken = ShaderLibrary.breaking(shader) { $0.hasSuffix(suffix) }
            let wrong = try LayerTimer(graph, settings, device, PipelineStore(device, shaders: broken, folder: nil))
            // The first sets the bytes; here it is one that is right.
            #expect(try wrong.seconds(standard) != nil)
            #expect(try wrong.seconds(variant) == nil, "\(variant) is broken, and nobody notices")
        }
    }

    @Test("Broken variants are never taken, and the network's bytes stay", arguments: StoragePrecision.allCases)
    func brokenNetwork(precision: StoragePrecision) throws {
        let graph = try TuningGraph.make()
        var random = SeededGenerator(seed: 8)
        let input = random.tensor(graph.shape(of: graph.inputs[0]), -1...1)
        func bytes(_ backend: VulkanBackend) throws -> [UInt32] {
            try backend.compile(graph, batch: 1).run([input])[0].values.map(\.bitPattern)
        }
        let device = try TestDevice.open()
        let expected = try bytes(VulkanBackend(device, precision: precision))
        let tuned = VulkanBackend(
            device, precision: precision, shaders: .breaking("pointwise_shared"), tuning: .full)
        #expect(try bytes(tuned) == expected)
        #expect(tuned.tuningSummary?.measuredCount == 5)
    }
}
