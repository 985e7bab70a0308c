import CPUBackend
import ModelGraph
import TestSupport
import Testing

/// The generated networks of `Tests/Fixtures`, run whole against ONNX Runtime's answers that lie beside them.
@Suite("Mini networks", .serialized)
struct MiniNetworkTests {
    static func fixture(_ name: String) -> String { Checkout.path("Tests/Fixtures/" + name) }

    /// ONNX Runtime rounds in float32 too, in another order and before batch norms are folded: its own scores are
    /// 2.6e-4 from the float64 reference's.
    static let tolerance: Float = 1e-3

    @Test("give ONNX Runtime's scores and labels", arguments: ways)
    func mini(_ set: InstructionSet, threads: Int) throws {
        let backend = try CPUBackend(threads: threads, instructionSet: set)
        let model = try Model(path: Self.fixture("mini.safetensors"))
        let picture = Self.fixture("mini.input.png")
        let expected = try NPYFile(path: Self.fixture("mini.scores.npy"))
        let labels = try LabelPicture(path: Self.fixture("mini.labels.png"))

        let trunk = try model.trunkScores(of: picture, on: backend)
        #expect(expected.shape == [trunk.shape.height, trunk.shape.width, trunk.shape.channels])
        #expect(trunk.largestDifference(from: expected.values) < Self.tolerance)
        #expect(try model.scores(of: picture, on: backend).labels == labels.values)
        #expect(model.categories(trunk, size: labels.size, on: backend) == labels.values)
        let asRead = try backend.compile(model.graph, batch: 1).run([model.input(picture: picture)])[0]
        #expect(asRead.labels == labels.values)
    }

    @Test("give ONNX Runtime's probabilities", arguments: ways)
    func selfie(_ set: InstructionSet, threads: Int) throws {
        let backend = try CPUBackend(threads: threads, instructionSet: set)
        let model = try Model(path: Self.fixture("mini-selfie.safetensors"))
        let picture = Self.fixture("mini-selfie.input.png")
        let expected = try NPYFile(path: Self.fixture("mini-selfie.mask.npy"))
        let mask = try model.scores(of: picture, on: backend)
        #expect(expected.shape == [mask.shape.height, mask.shape.width])
        #expect(mask.largestDifference(from: expected.values) < Self.tolerance)
        let asRead = try backend.compile(model.graph, batch: 1).run([model.input(picture: picture)])[0]
        #expect(asRead.largestDifference(from: expected.values) < Self.tolerance)
    }

    @Test("give ONNX Runtime's answers in the float64 reference too")
    func reference() throws {
        let model = try Model(path: Self.fixture("mini.safetensors"))
        let tensors = Reference.run(model.graph, [try model.input(picture: Self.fixture("mini.input.png"))])
        let scores = tensors[model.graph.separatingHead().trunk.outputs[0].index].rounded
        let expected = try NPYFile(path: Self.fixture("mini.scores.npy"))
        #expect(scores.largestDifference(from: expected.values) < Self.tolerance)

        let selfie = try Model(path: Self.fixture("mini-selfie.safetensors"))
        let input = try selfie.input(picture: Self.fixture("mini-selfie.input.png"))
        let mask = Reference.run(selfie.graph, [input])[selfie.graph.outputs[0].index].rounded
        let expectedMask = try NPYFile(path: Self.fixture("mini-selfie.mask.npy"))
        #expect(mask.largestDifference(from: expectedMask.values) < Self.tolerance)
    }
}
