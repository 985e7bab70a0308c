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
    static func identity(_ extent: Extent, order: ModelInput.Order, scale: [Float], bias: [Float]) throws -> FrameModel {
        let channels = order.channelCount
        var graph = Graph(name: "identity")
        let input = graph.addInput("picture", Shape(height: extent.height, width: extent.width, channels: channels))
        let weights = (0..<channels * channels).map { Float($0 % (channels + 1) == 0 ? 1 : 0) }
        graph.outputs = [
            try graph.append(
                "identity",
                .convolution(Convolution(weights: Weights(shape: [channels, channels, 1, 1], values: weights))), [input])
        ]
        return FrameModel(
            graph: graph,
            input: ModelInput(width: extent.width, height: extent.height, order: order, scale: scale, bias: bias))
    }

    /// A network of one pointwise convolution, some resizes and an activation.
    static func classes(
        _ extent: Extent, channels: Int, resizes: [ScoreHead.Resize] = [],
        activation: ScoreHead.Activation = .none, kind: OutputKind = .logits
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
                width: extent.width, height: extent.height, order: .rgb, scale: [Float](repeating: 1 / 31.875, count: 3),
                bias: [-4, -4, -4]), kind: kind)
    }
}

/// Results of a frame's pictures, as far as they were asked for.
struct FrameResult: Equatable {
    var categories: [UInt8] = []
    var confidences: [[Float]] = []
    var scores: [Float] = []
    var overlay: [UInt8] = []
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

extension FrameSlot {
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
        if outputs.overlay != nil {
            result.overlay = [UInt8](repeating: 1, count: count * 3)
            result.overlay.withUnsafeMutableBufferPointer { copyOverlay(of: index, into: $0) }
        }
        return result
    }
}

extension FrameModel {
    /// A program for this network.
    func program(_ backend: VulkanBackend, _ format: FrameFormat) throws -> FrameProgram {
        try FrameProgram(
            FrameNetwork(backend, graph: graph, input: input, outputKind: kind), format: format)
    }

    /// The network's input for a picture, as the processor makes it.
    func preprocessed(_ picture: Image, _ format: FrameFormat) -> (geometry: FitGeometry, input: Tensor) {
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

    /// What the processor makes of a picture: from scores of its own.
    func reference(_ picture: Image, _ format: FrameFormat, on backend: CPUBackend) throws -> FrameResult {
        let (geometry, tensor) = preprocessed(picture, format)
        let (trunk, head) = graph.optimized().separatingHead()
        let scores = try backend.compile(trunk, batch: 1).run([tensor])[0]
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
        _ shape: Shape, _ head: ScoreHead, _ geometry: FitGeometry, _ format: FrameFormat, on backend: CPUBackend
    ) -> ScoreSampler {
        let output = graph.shape(of: graph.outputs[0]).extent
        let (network, seen, shown) = (geometry.network, geometry.source, geometry.target)
        let isPicture = format.maskSize == .picture
        let coversAll = shown == PixelRect(network) && seen == PixelRect(geometry.picture)
        let region =
            coversAll || !isPicture
            ? nil
            : ScoreRegion(
                rows: .init(
                    showing: shown.y..<shown.y + shown.height, of: network.height, output: output.height,
                    at: seen.y..<seen.y + seen.height),
                columns: .init(
                    showing: shown.x..<shown.x + shown.width, of: network.width, output: output.width,
                    at: seen.x..<seen.x + seen.width))
        let target =
            isPicture ? Extent(height: geometry.picture.height, width: geometry.picture.width) : output
        return ScoreSampler(
            scores: shape, head: head, kind: kind, target: target, region: region, backend: backend)
    }
}

/// How two results of one frame differ.
struct FrameDifference: CustomStringConvertible {
    /// Pixels of another class, where the processor's best and second-best scores are more than 1e-4 apart, and all of them.
    var clearlyOther = 0
    var other = 0
    var pixelCount = 0
    var confidence: Float = 0
    var score: Float = 0

    init(_ result: FrameResult, from reference: FrameResult, isSubjectOnly: Bool, threshold: Float) {
        pixelCount = reference.categories.count
        let channels = reference.scores.count / max(1, pixelCount)
        if !result.categories.isEmpty {
            for pixel in reference.categories.indices where reference.categories[pixel] != result.categories[pixel] {
                other += 1
                let scores = reference.scores[pixel * channels..<(pixel + 1) * channels]
                let margin =
                    isSubjectOnly
                    ? abs(scores.first! - threshold)
                    : scores.max()! - (scores.sorted(by: >).dropFirst().first ?? -.infinity)
                if !(margin <= 1e-4) { clearlyOther += 1 }
            }
        }
        for (plane, expected) in zip(result.confidences, reference.confidences) {
            confidence = zip(plane, expected).reduce(confidence) { Swift.max($0, ($1.0 - $1.1).magnitudeOrInfinity) }
        }
        if !result.scores.isEmpty {
            score = zip(result.scores, reference.scores).reduce(0) { Swift.max($0, ($1.0 - $1.1).magnitudeOrInfinity) }
        }
    }

    var description: String {
        "\(other) of \(pixelCount) pixels of another class, \(clearlyOther) clearly; confidences \(confidence), "
            + "scores \(score) apart"
    }
}

extension Float {
    /// The magnitude; infinity for a NaN, which no comparison would find.
    fileprivate var magnitudeOrInfinity: Float { isNaN ? .infinity : magnitude }
}

/// A picture and the way it is stored and brought to a network's size.
struct PictureCase: Sendable, CustomStringConvertible {
    var stored: PixelSize
    var orientation: Orientation = .up
    var layout: PixelFormat = .rgb
    var fit: Fit = .stretch
    var network: Extent
    var order: ModelInput.Order = .rgb

    var description: String {
        "\(stored) \(layout) orientation \(orientation.rawValue) \(fit) to \(network.width)x\(network.height) \(order)"
    }

    /// Every orientation, fit and layout; shrinking, enlarging, both, neither; passes in both orders; awkward sizes.
    static let table: [PictureCase] = {
        func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }
        var cases: [PictureCase] = []
        for orientation in Orientation.allCases {
            for fit in Fit.allCases {
                cases.append(PictureCase(stored: size(61, 47), orientation: orientation, fit: fit, network: [33, 29]))
            }
        }
        for layout in PixelFormat.allCases {
            for order in ModelInput.Order.allCases {
                for fit in Fit.allCases {
                    cases.append(
                        PictureCase(stored: size(40, 71), layout: layout, fit: fit, network: [33, 33], order: order))
                }
            }
        }
        let sizes = [
            size(1, 1), size(1, 9), size(9, 1), size(33, 33), size(33, 80), size(80, 33), size(33, 12), size(12, 33),
            size(5, 4), size(66, 66), size(65, 67), size(640, 480), size(100, 700), size(700, 100), size(40, 300),
        ]
        for stored in sizes {
            for fit in Fit.allCases {
                cases.append(PictureCase(stored: stored, layout: .rgba, fit: fit, network: [33, 33]))
            }
        }
        cases.append(PictureCase(stored: size(1023, 769), orientation: .right, network: [257, 257]))
        cases.append(PictureCase(stored: size(3000, 2001), network: [257, 257]))
        cases.append(PictureCase(stored: size(300, 200), layout: .bgra, fit: .letterbox, network: [513, 513]))
        cases.append(PictureCase(stored: size(4, 20_000), network: [3, 3]))
        return cases
    }()

    /// Indices of values of the network's input that are not, bit for bit, the processor's.
    func differences(on backend: VulkanBackend) throws -> [Int] {
        let channels = order.channelCount
        // Values that need rounding; with float16 storage bytes themselves, which need none.
        let isExact = backend.precision == .float16
        let scale: [Float] = isExact ? [1, 1, 1] : [1 / 127.5, 0.017, 0.0156]
        let bias: [Float] = isExact ? [0, 0, 0] : [-1, -2.1, -1.8]
        let model = try FrameModel.identity(
            network, order: order, scale: Array(scale.prefix(channels)), bias: Array(bias.prefix(channels)))
        let format = FrameFormat(
            picture: stored, orientation: orientation, fit: fit, maskSize: .model,
            outputs: FrameOutputs(categories: false, scores: true),
            background: RGBColor(red: 20, green: 220, blue: 99), padding: RGBColor(red: 200, green: 3, blue: 127))
        let picture = TestPicture.make(stored, layout)
        let found = try model.program(backend, format).makeSlot().run([picture])[0].scores
        let expected = model.preprocessed(picture, format).input.values
        return expected.indices.filter { expected[$0].bitPattern != found[$0].bitPattern }
    }
}

/// A network's output and what is to be made of it.
struct MaskCase: Sendable, CustomStringConvertible {
    var scores: Extent
    var channels: Int
    var resizes: [ScoreHead.Resize] = []
    var activation: ScoreHead.Activation = .none
    var kind: OutputKind = .logits
    var picture: PixelSize
    var fit: Fit = .stretch
    var maskSize: FrameFormat.MaskSize = .picture

    var description: String {
        let steps = resizes.map { "\($0.extent) \($0.convention)" } + ["\(activation)", "\(kind)"]
        return "\(scores)x\(channels) > " + steps.joined(separator: " > ") + ", \(fit) of \(picture), \(maskSize)"
    }

    static let table: [MaskCase] = {
        func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }
        func resize(_ extent: Extent, _ convention: ResizeConvention) -> ScoreHead.Resize {
            ScoreHead.Resize(extent: extent, convention: convention)
        }
        let aligned = [resize(65, .alignCorners)]
        var cases: [MaskCase] = []
        for fit in Fit.allCases {
            for picture in [size(130, 97), size(61, 90), size(65, 65), size(17, 31), size(1, 1), size(3, 200)] {
                cases.append(MaskCase(scores: 9, channels: 21, resizes: aligned, picture: picture, fit: fit))
            }
        }
        for maskSize in FrameFormat.MaskSize.allCases {
            for (activation, kind) in [
                (ScoreHead.Activation.none, OutputKind.logits), (.none, .probabilities), (.softmax, .probabilities),
                (.sigmoid, .probabilities),
            ] {
                for channels in [1, 2, 5] where channels > 1 || activation != .softmax {
                    cases.append(
                        MaskCase(
                            scores: [16, 12], channels: channels, resizes: [resize([30, 26], .halfPixel)],
                            activation: activation, kind: kind, picture: size(51, 44), fit: .letterbox,
                            maskSize: maskSize))
                }
            }
        }
        cases += [
            MaskCase(
                scores: [7, 9], channels: 5, resizes: [resize([14, 18], .halfPixel), resize([40, 50], .asymmetric)],
                picture: size(77, 77)),
            MaskCase(scores: [17, 13], channels: 3, picture: size(13, 17)),
            MaskCase(scores: [17, 13], channels: 4, picture: size(5, 6), fit: .crop),
            MaskCase(scores: [1, 1], channels: 21, picture: size(7, 5)),
            MaskCase(scores: [60, 90], channels: 21, picture: size(11, 7)),
            MaskCase(scores: [33, 33], channels: 60, picture: size(300, 40)),
            MaskCase(scores: [33, 33], channels: 256, picture: size(40, 30)),
            MaskCase(scores: [65, 65], channels: 21, resizes: [resize(513, .alignCorners)], picture: size(640, 427)),
        ]
        return cases
    }()

    /// How the device's masks differ from the processor's.
    func difference(on backend: VulkanBackend, _ processor: CPUBackend) throws -> FrameDifference {
        let model = try FrameModel.classes(
            scores, channels: channels, resizes: resizes, activation: activation, kind: kind)
        // In another order than the channels'.
        let classes = channels > 60 ? [channels - 1, 3] : Array((0..<max(2, channels)).reversed())
        let format = FrameFormat(
            picture: picture, fit: fit, maskSize: maskSize,
            outputs: FrameOutputs(confidenceClasses: classes, scores: true))
        let image = TestPicture.make(picture)
        let result = try model.program(backend, format).makeSlot().run([image])[0]
        let withoutScores = FrameFormat(
            picture: picture, fit: fit, maskSize: maskSize, outputs: FrameOutputs(confidenceClasses: classes))
        // Raw scores may take another way through the network than masks alone.
        let masks = try model.program(backend, withoutScores).makeSlot().run([image])[0]
        let reference = try model.reference(image, format, on: processor)
        let isLogit = kind == .logits && activation == .none
        var difference = FrameDifference(
            masks, from: reference, isSubjectOnly: channels == 1, threshold: isLogit ? 0 : 0.5)
        let both = FrameDifference(
            result, from: reference, isSubjectOnly: channels == 1, threshold: isLogit ? 0 : 0.5)
        difference.clearlyOther = max(difference.clearlyOther, both.clearlyOther)
        difference.other = max(difference.other, both.other)
        difference.confidence = max(difference.confidence, both.confidence)
        difference.score = both.score
        return difference
    }
}
