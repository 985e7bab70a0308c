import CPUBackend
import ModelGraph
import TestSupport
import Testing

/// As in `99.998 %`.
private func percent(_ fraction: Double) -> String {
    let thousandths = Int((fraction * 100_000).rounded(.down))
    let decimals = String(1000 + thousandths % 1000).dropFirst()
    return "\(thousandths / 1000).\(decimals) %"
}

/// The trained networks, from pictures at model size, against the answers of other runtimes.
@Suite("Trained networks", .serialized, .needsPython, .needs(shared: "golden", "models"))
struct GoldenTests {
    static let networks = Result {
        try Dictionary(uniqueKeysWithValues: ReferenceModel.allCases.map { ($0, try Model(path: $0.path())) })
    }

    private func network(_ name: ReferenceModel) throws -> Model { try #require(Self.networks.get()[name]) }

    private func golden(_ name: String) -> String { SharedFiles.path("golden/" + name) }

    /// Checks the labels wherever the two best scores differ by more than rounding can.
    private func expectSameLabels(_ scores: Tensor, _ expected: [UInt8]) {
        let labels = scores.labels
        for (pixel, margin) in scores.margins.enumerated() where margin > 1e-2 && labels[pixel] != expected[pixel] {
            Issue.record("pixel \(pixel): \(labels[pixel]), expected \(expected[pixel]), margin \(margin)")
        }
    }

    @Test("of 257x257 give LiteRT's logits and labels", arguments: InstructionSet.available, goldenPictures)
    func deepLab257(_ set: InstructionSet, picture: String) throws {
        let backend = try CPUBackend(instructionSet: set)
        let model = try network(.deepLab257)
        let input = golden("deeplabv3-257/\(picture).input.png")
        let expected = try NPYFile(path: golden("deeplabv3-257/\(picture).logits33.npy"))
        let labels = try LabelPicture(path: golden("deeplabv3-257/\(picture).labels.png"))

        let trunk = try model.trunkScores(of: input, on: backend)
        let difference = trunk.largestDifference(from: expected.values)
        #expect(difference <= 2e-3)
        let scores = try model.scores(of: input, on: backend)
        let agreement = labels.agreement(with: scores.labels)
        #expect(agreement >= 0.9999)
        expectSameLabels(scores, labels.values)
        // The fused way to the same labels, and to those at the picture's own size.
        #expect(labels.agreement(with: model.categories(trunk, size: labels.size, on: backend)) >= 0.9999)
        let source = try LabelPicture(path: golden("deeplabv3-257/\(picture).source-labels.png"))
        let sourceAgreement = source.agreement(with: model.categories(trunk, size: source.size, on: backend))
        #expect(sourceAgreement >= 0.999)
        print(
            "deeplabv3-257, \(set), \(picture): labels equal at \(percent(agreement)), at the picture's size at "
                + "\(percent(sourceAgreement)); logits differ by \(difference) at most")
    }

    @Test("of Core ML give the labels of its reference", arguments: goldenPictures)
    func apple(_ picture: String) throws {
        let backend = try CPUBackend()
        let model = try network(.apple)
        let trunk = try model.trunkScores(of: golden("deeplabv3-513-apple/\(picture).input.png"), on: backend)
        let labels = try LabelPicture(path: golden("deeplabv3-513-apple/\(picture).labels.png"))
        let agreement = labels.agreement(with: model.categories(trunk, size: labels.size, on: backend))
        #expect(agreement >= 0.999)
        print("deeplabv3-513-apple, \(picture): labels equal at \(percent(agreement))")
    }

    @Test("of Coral, dequantised, give nearly the labels of quantised arithmetic", arguments: goldenPictures)
    func coral(_ picture: String) throws {
        let backend = try CPUBackend()
        let model = try network(.coral)
        let trunk = try model.trunkScores(of: golden("deeplabv3-513-apple/\(picture).input.png"), on: backend)
        let labels = try LabelPicture(path: golden("deeplabv3-513-coral/\(picture).labels.png"))
        let agreement = labels.agreement(with: model.categories(trunk, size: labels.size, on: backend))
        #expect(agreement >= 0.98)
        print("deeplabv3-513-coral, \(picture): labels equal at \(percent(agreement))")
    }

    @Test("of MediaPipe give LiteRT's probabilities", arguments: goldenPictures)
    func selfie(_ picture: String) throws {
        let backend = try CPUBackend()
        let mask = try network(.selfie).scores(of: golden("selfie/\(picture).input.png"), on: backend)
        let expected = try NPYFile(path: golden("selfie/\(picture).mask.npy"))
        let total = zip(mask.values, expected.values).reduce(Float(0)) { $0 + abs($1.0 - $1.1) }
        #expect(expected.values.count == mask.values.count)
        let mean = total / Float(mask.values.count)
        #expect(mean <= 0.01)
        print("selfie, \(picture): probabilities differ by \(mean) on average")
    }

    @Test(
        "of torchvision give ONNX Runtime's scores", .takesMinutes, .needsTorchvision,
        arguments: TorchvisionModel.allCases)
    func torchvision(_ network: TorchvisionModel) throws {
        let files = try network.files()
        let model = try Model(path: files.model)
        let input = try NPYFile(path: files.input)
        let expected = try NPYFile(path: files.output)
        let compiled = try CPUBackend().compile(model.graph.optimized(), batch: 1)
        let scores = try compiled.run([Tensor(shape: model.input.shape, values: input.values)])[0]
        #expect(expected.shape == [scores.shape.height, scores.shape.width, scores.shape.channels])
        let difference = scores.largestDifference(from: expected.values)
        #expect(difference <= 2e-3)
        print("\(network.rawValue): scores differ by \(difference) at most")
        let labels = Tensor(shape: scores.shape, values: expected.values).labels
        expectSameLabels(scores, labels)
    }
}
