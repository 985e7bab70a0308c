import VulkanImaging
import CPUBackend
import Imaging
import ModelGraph
import TestSupport
import VulkanBackend
import VulkanCompute

/// A network, and all that makes frames of it: what a model file would hold.
struct FrameModel: Sendable {
    var graph: Graph
    var input: ModelInput
    var kind: OutputKind = .logits

    init(graph: Graph, input: ModelInput, kind: OutputKind = .logits) {
        self.graph = graph
        self.input = input
        self.kind = kind
    }

    init(_ model: Model) { self.init(graph: model.graph, input: model.input, kind: model.outputKind) }

    /// A network that gives back its input, so that a frame's scores are the normalised picture.
    static func identity(_ extent: Extent, order: ChannelOrder, scale: [Float], bias: [Float]) throws -> FrameModel {
        let channels = order.channelCount
        var graph = Graph(name: "identity")
        let input = graph.addInput("picture", Shape(height: extent.height, width: extent.width, channels: channels))
        let weights = (0..<channels * channels).map { Float($0 % (channels + 1) == 0 ? 1 : 0) }
        graph.outputs = [
            try graph.append(
                "identity",
                .convolution(Convolution(weights: Weights(shape: [channels, channels, 1, 1], values: weights))), [input]
            )
        ]
        return FrameModel(
            graph: graph,
            input: ModelInput(width: extent.width, height: extent.height, order: order, scale: scale, bias: bias))
    }

    /// A network of one pointwise convolution, some resizes and an activation.
    static func classes(
        _ extent: Extent, channels: Int, resizes: [ScoreHead.Resize] = [],
        activation: HeadActivation = .none, kind: OutputKind = .logits
    ) throws -> FrameModel {
        var random = SeededGenerator(seed: UInt64(channels))
        var graph = Graph(name: "classes")
        let input = graph.addInput("picture", Shape(height: extent.height, width: extent.width, channels: 3))
        var position = try graph.append(
            "scores",
            .convolution(
                Convolution(weights: random.weights([channels, 3, 1, 1], fanIn: 3), bias: random.bias(channels))),
            [input])
        for (index, resize) in resizes.enumerated() {
            position = try graph.append(
                "resize\(index)", .resizeBilinear(resize.extent, resize.convention), [position])
        }
        switch activation {
        case .none: break
        case .softmax: position = try graph.append("softmax", .softmax, [position])
        case .sigmoid: position = try graph.append("sigmoid", .activation, [position], activation: .sigmoid)
        }
        graph.outputs = [position]
        return FrameModel(
            graph: graph,
            input: ModelInput(
                width: extent.width, height: extent.height, order: .rgb,
                scale: [Float](repeating: 1 / 31.875, count: 3),
                bias: [-4, -4, -4]), kind: kind)
    }
}

/// Results of a frame's pictures, as far as they were asked for.
struct FrameResult: Equatable {
    var categories: [UInt8] = []
    var confidences: [[Float]] = []
    var scores: [Float] = []
}

enum TestPicture {
    /// Smooth fields with noise over them; alpha of every kind where the layout has it.
    static func make(_ size: PixelSize, _ format: PixelFormat = .rgb, seed: UInt64 = 1) -> Image {
        var random = SeededGenerator(seed: seed)
        let channels = format.channelCount
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.pixelCount * channels)
        for y in 0..<size.height {
            for x in 0..<size.width {
                for channel in 0..<channels {
                    let field = (x * (channel + 2) * 256 / size.width + y * (5 - channel) * 200 / size.height) % 512
                    let value = min(field, 511 - field) + random.integer(-24...24)
                    bytes.append(UInt8(clamping: channel == 3 ? value * 2 - 128 : value))
                }
            }
        }
        do { return try Image(width: size.width, height: size.height, format: format, bytes: bytes) } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension SegmentationSlot {
    /// Runs one frame and copies all of its results.
    func run(_ pictures: [Image]) throws -> [FrameResult] {
        for (index, picture) in pictures.enumerated() { picture.withView { load($0, at: index) } }
        try submit()
        try wait(nanoseconds: 120_000_000_000)
        return pictures.indices.map { results(of: $0) }
    }

    private func results(of index: Int) -> FrameResult {
        let outputs = program.format.outputs
        let count = program.maskSize.pixelCount
        var result = FrameResult()
        if outputs.categories {
            result.categories = [UInt8](repeating: 255, count: count)
            result.categories.withUnsafeMutableBufferPointer { copyCategories(of: index, into: $0) }
        }
        if !outputs.confidenceClasses.isEmpty {
            let planes = outputs.confidenceClasses.map { _ in
                UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
            }
            defer { planes.forEach { $0.deallocate() } }
            planes.forEach { $0.initialize(repeating: .nan) }
            copyConfidences(of: index, into: planes)
            result.confidences = planes.map { Array($0) }
        }
        if outputs.scores {
            result.scores = [Float](repeating: .nan, count: count * program.channelCount)
            result.scores.withUnsafeMutableBufferPointer { copyScores(of: index, into: $0) }
        }
        return result
    }
}

extension FrameModel {
    /// A program for this network.
    func program(_ backend: VulkanBackend, _ format: SegmentationFormat) throws -> SegmentationProgram {
        try SegmentationProgram(
            PictureNetwork(backend, graph: graph, input: input, outputKind: kind), format: format)
    }

    /// The network's input for a picture, as the processor makes it.
    func preprocessed(_ picture: Image, _ format: SegmentationFormat) -> (geometry: FitGeometry, input: Tensor) {
        let upright = picture.oriented(format.orientation)
        let preprocessor = Preprocessor(
            picture: upright.size, network: PixelSize(width: input.width, height: input.height), fit: format.fit,
            format: input.order == .gray ? .gray : .rgb, background: format.background, padding: format.padding)
        let order: Normalization.Order = input.order == .rgb ? .rgb : input.order == .bgr ? .bgr : .gray
        let normalization = Normalization(order: order, scale: input.scale, bias: input.bias)
        var tensor = Tensor(zeros: input.shape)
        preprocessor.prepare(upright).bytes.withUnsafeBufferPointer { bytes in
            tensor.values.withUnsafeMutableBufferPointer { normalization.apply(bytes, into: $0) }
        }
        return (preprocessor.geometry, tensor)
    }

    /// What the processor makes of a picture: its own scores, or those of another backend's network.
    func reference(
        _ picture: Image, _ format: SegmentationFormat, on backend: CPUBackend, network: (any InferenceBackend)? = nil
    ) throws -> FrameResult {
        let (geometry, tensor) = preprocessed(picture, format)
        let (trunk, head) = graph.optimized().separatingHead()
        let scores = try (network ?? backend).compile(trunk, batch: 1).run([tensor])[0]
        let sampler = sampler(scores.shape, head, geometry, format, on: backend)
        let outputs = format.outputs
        let count = sampler.target.height * sampler.target.width
        var result = FrameResult()
        scores.values.withUnsafeBufferPointer { scores in
            result.categories = [UInt8](repeating: 255, count: count)
            result.categories.withUnsafeMutableBufferPointer { sampler.categories(scores, into: $0) }
            let planes = outputs.confidenceClasses.map { _ in
                UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
            }
            defer { planes.forEach { $0.deallocate() } }
            planes.forEach { $0.initialize(repeating: .nan) }
            sampler.confidences(scores, classes: outputs.confidenceClasses, into: planes)
            result.confidences = planes.map { Array($0) }
            result.scores = [Float](repeating: .nan, count: count * trunk.shape(of: trunk.outputs[0]).channels)
            result.scores.withUnsafeMutableBufferPointer { sampler.scores(scores, into: $0) }
        }
        return result
    }

    private func sampler(
        _ shape: Shape, _ head: ScoreHead, _ geometry: FitGeometry, _ format: SegmentationFormat, on backend: CPUBackend
    ) -> ScoreSampler {
        let output = graph.shape(of: graph.outputs[0]).extent
        guard format.maskSize == .source else {
            return ScoreSampler(scores: shape, head: head, kind: kind, target: output, backend: backend)
        }
        let (picture, network) = (geometry.picture, geometry.network)
        let (seen, shown) = (geometry.source, geometry.target)
        let target = Extent(height: picture.height, width: picture.width)
        let region = ScoreRegion(
            seen: (seen.rows, seen.columns), of: target, shown: (shown.rows, shown.columns),
            of: Extent(height: network.height, width: network.width), output: output)
        return ScoreSampler(scores: shape, head: head, kind: kind, target: target, region: region, backend: backend)
    }
}
