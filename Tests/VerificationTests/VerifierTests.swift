import CPUBackend
import ModelGraph
import TestSupport
import Testing
import Verification

@Suite("Verifier")
struct VerifierTests {
    /// A backend whose result of one layer is off.
    private struct Faulty: InferenceBackend {
        let inner: CPUBackend
        let layer: String
        /// What is there instead, by index and value.
        let change: @Sendable (Int, Float) -> Float

        init(inner: CPUBackend, layer: String, change: @escaping @Sendable (Int, Float) -> Float) {
            self.inner = inner
            self.layer = layer
            self.change = change
        }

        /// In one place only.
        init(inner: CPUBackend, layer: String, index: Int, change: @escaping @Sendable (Float) -> Float) {
            self.init(inner: inner, layer: layer) { $0 == index ? change($1) : $1 }
        }

        var deviceName: String { "faulty" }

        func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph {
            Compiled(inner: try inner.compile(graph, batch: batch), backend: self)
        }

        final class Compiled: CompiledGraph {
            let inner: any CompiledGraph
            let backend: Faulty

            init(inner: any CompiledGraph, backend: Faulty) {
                self.inner = inner
                self.backend = backend
            }

            var graph: Graph { inner.graph }
            var batch: Int { inner.batch }
            var arenaByteCount: Int { inner.arenaByteCount }

            func run(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) throws {
                try inner.run(inputs, into: outputs)
                if graph.layers.contains(where: { $0.members.contains(backend.layer) }) {
                    for (index, value) in outputs[0].enumerated() { outputs[0][index] = backend.change(index, value) }
                }
            }

            func profile(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>])
                throws -> [Double]
            {
                try inner.profile(inputs, into: outputs)
            }
        }
    }

    private let graph: Graph
    private let input: Tensor
    private let reference: CPUBackend

    init() throws {
        graph = try SmallGraphs.pyramid().optimized()
        var random = SeededGenerator(seed: 3)
        input = random.tensor(graph.shape(of: graph.inputs[0]), -1...1)
        reference = try CPUBackend(threads: 1, instructionSet: .portable)
    }

    private func verdicts(_ candidate: any InferenceBackend, _ storage: Weights.Format = .float32) throws
        -> (layers: [LayerVerdict], network: NetworkVerdict)
    {
        let verifier = Verifier(graph, .logits, reference: reference, candidate: candidate, storage: storage)
        var layers: [LayerVerdict] = []
        let rounded = try verifier.verifyLayers(on: input) { layers.append($0) }
        return (layers, try verifier.verifyNetwork(on: input, rounded: rounded))
    }

    @Test("The processor agrees with itself, whatever its instructions", arguments: InstructionSet.available)
    func agreement(set: InstructionSet) throws {
        let (layers, network) = try verdicts(try CPUBackend(threads: 2, instructionSet: set))
        #expect(layers.map(\.index) == Array(graph.layers.indices))
        #expect(layers.map(\.members) == graph.layers.map(\.members))
        #expect(layers.map(\.shape) == graph.layers.map { graph.shape(of: $0.output) })
        #expect(layers.filter { !$0.passes }.isEmpty)
        #expect(network.passes && network.repeats && network.agreement == 1)
        if set == .portable { #expect(layers.allSatisfy { $0.deviation.error == 0 }) }
    }

    @Test("A layer that is wrong in one place is found there, and no other", arguments: 0..<8)
    func fault(layer: Int) throws {
        let name = graph.layers[layer % graph.layers.count].members[0]
        let first = try #require(graph.layers.firstIndex { $0.members.contains(name) })
        let shape = graph.shape(of: graph.layers[first].output)
        let index = shape.elementCount - 1 - shape.channels / 2
        let faulty = Faulty(inner: reference, layer: name, index: index) { $0 + max(1, abs($0)) * 3e-4 }
        let layers = try verdicts(faulty).layers
        #expect(layers.filter { !$0.passes }.allSatisfy { $0.members.contains(name) })
        let failure = try #require(layers.first { !$0.passes })
        #expect(failure.index == first)
        let place = failure.deviation
        #expect((place.row * shape.width + place.column) * shape.channels + place.channel == index)
        #expect(place.error > 1e-4 && place.error < 4e-4)
    }

    @Test(
        "A NaN, an infinity and a wrong sign are never within tolerance", arguments: [Float.nan, .infinity, -.infinity])
    func notFinite(value: Float) throws {
        let name = graph.layers[2].members[0]
        let layers = try verdicts(Faulty(inner: reference, layer: name, index: 0) { _ in value }).layers
        let failure = try #require(layers.first { !$0.passes })
        #expect(failure.index == 2)
        #expect(failure.deviation.error == .infinity)
        #expect(failure.deviation.row == 0 && failure.deviation.column == 0 && failure.deviation.channel == 0)
    }

    @Test("A whole network that is wrong though its layers are right does not pass")
    func network() throws {
        struct WholeOnly: InferenceBackend {
            let faulty: Faulty
            var deviceName: String { "wrong as a whole" }
            func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph {
                graph.layers.count == 1
                    ? try faulty.inner.compile(graph, batch: batch) : try faulty.compile(graph, batch: batch)
            }
        }
        let name = graph.layers[0].members[0]
        let (layers, network) = try verdicts(
            WholeOnly(faulty: Faulty(inner: reference, layer: name, index: 0) { $0 + 1000 }))
        #expect(layers.filter { !$0.passes }.isEmpty)
        #expect(!network.passes)
        #expect(network.clearlyDifferentPixelCount + network.agreeingPixelCount <= network.pixelCount)
    }

    @Test("A device that gives other bytes the second time does not pass")
    func repeats() throws {
        final class Counter: @unchecked Sendable { var count = 0 }
        let counter = Counter()
        let (_, network) = try verdicts(
            Faulty(inner: reference, layer: graph.layers[0].members[0], index: 0) { value in
                counter.count += 1
                return counter.count % 2 == 0 ? value : value.nextUp
            })
        #expect(!network.repeats && !network.passes)
        #expect(network.deviation.error < 1e-5)
    }

    @Test("A pixel of another class counts as different unless its scores were nearly equal")
    func labels() throws {
        var graph = Graph(name: "as it comes")
        let picture = graph.addInput("x", Shape(height: 1, width: 3, channels: 2))
        let weights = Weights(shape: [2, 2, 1, 1], values: [1, 0, 0, 1])
        graph.outputs = [try graph.append("scores", .convolution(Convolution(weights: weights)), [picture])]
        // A near tie, a clear one, and one that nobody changes.
        let input = Tensor(shape: graph.shape(of: picture), values: [1, 1.001, 1, 2, 5, 4])
        func verdict(_ index: Int, adding change: Float) throws -> NetworkVerdict {
            let faulty = Faulty(inner: reference, layer: "scores", index: index) { $0 + change }
            return try Verifier(graph, .logits, reference: reference, candidate: faulty, storage: .float32)
                .verifyNetwork(on: input, rounded: input)
        }
        let near = try verdict(0, adding: 0.0015)
        #expect(near.agreeingPixelCount == 2 && near.clearlyDifferentPixelCount == 0 && near.passes)
        let clear = try verdict(2, adding: 1.5)
        #expect(clear.agreeingPixelCount == 2 && clear.clearlyDifferentPixelCount == 1 && !clear.passes)
        let same = try verdict(4, adding: 100)
        #expect(same.agreeingPixelCount == 3 && same.clearlyDifferentPixelCount == 0 && !same.passes)
    }

    @Test("Probabilities have bounds of their own, however much a network makes of rounding")
    func probabilities() throws {
        var graph = Graph(name: "as it comes")
        let picture = graph.addInput("x", Shape(height: 8, width: 8, channels: 1))
        let weights = Weights(shape: [1, 1, 1, 1], values: [1])
        graph.outputs = [try graph.append("scores", .convolution(Convolution(weights: weights)), [picture])]
        let values = (0..<64).map { [0, 0.25, 0.55, 0.625, 1][$0 % 5] as Float }
        let input = Tensor(shape: graph.shape(of: picture), values: values)
        // Rounding alone is off by 0.4 in one place.
        let rounded = Tensor(shape: input.shape, values: [0.4] + values.dropFirst())
        func verdict(_ storage: Weights.Format = .float16, _ change: @escaping @Sendable (Int, Float) -> Float) throws
            -> NetworkVerdict
        {
            try Verifier(
                graph, .probabilities, reference: reference,
                candidate: Faulty(inner: reference, layer: "scores", change: change),
                storage: storage
            ).verifyNetwork(on: input, rounded: rounded)
        }
        func off(_ place: Int, by change: Float) throws -> NetworkVerdict {
            try verdict { $0 == place ? $1 + change : $1 }
        }
        let same = try verdict { $1 }
        #expect(same.passes && same.tolerance == 0.25 && same.meanTolerance == 0.005)
        #expect(try off(0, by: 0.24).passes)
        #expect(try !off(0, by: 0.26).passes)
        #expect(try verdict { $1 + ($0 % 2 == 0 ? 0.0045 : -0.0045) }.passes)
        let everywhere = try verdict { $1 + ($0 % 2 == 0 ? 0.0055 : -0.0055) }
        #expect(!everywhere.passes && everywhere.agreement == 1 && everywhere.deviation.error < everywhere.tolerance)
        // 0.55 is nearly a tie, 0.625 is not.
        #expect(try off(2, by: -0.15).passes)
        let other = try off(3, by: -0.15)
        #expect(other.clearlyDifferentPixelCount == 1 && !other.passes)
        // With float32 nothing is forgiven for rounding.
        #expect(try !verdict(.float32) { $0 == 0 ? $1 + 0.003 : $1 }.passes)
        #expect(try !verdict { $0 == 0 ? .nan : $1 }.passes)
    }

    @Test("With float16 the reference starts from rounded weights and inputs")
    func rounding() throws {
        // The same backend on both sides: rounding hits both, so there is nothing between them.
        let (layers, network) = try verdicts(reference, .float16)
        #expect(layers.allSatisfy { $0.deviation.error == 0 && $0.tolerance == 2e-3 })
        // The whole network is compared with float32, which the candidate is here.
        #expect(network.deviation.error == 0)
        #expect(network.tolerance >= 2e-3)
    }

    @Test("A layer alone computes what it does in its network", arguments: [UInt64(1), 2, 3])
    func isolation(seed: UInt64) throws {
        let graph = try SmallGraphs.pyramid(seed: seed).optimized()
        let whole = Reference.run(graph, [input])
        for index in graph.layers.indices {
            let alone = graph.isolatingLayer(at: index)
            try alone.graph.check()
            #expect(alone.graph.layers.count == 1 && alone.sources.count == alone.graph.inputs.count)
            let inputs = alone.sources.map { id in
                Tensor(shape: graph.shape(of: id), values: whole[id.index].values.map(Float.init))
            }
            let result = Reference.run(alone.graph, inputs)[alone.graph.outputs[0].index]
            let expected = whole[graph.layers[index].output.index]
            #expect(zip(result.values, expected.values).allSatisfy { abs($0 - $1) <= 1e-5 * max(1, abs($1)) })
        }
    }

    @Test("A layer that reads a tensor twice has it as one input")
    func sharedInput() throws {
        var graph = Graph(name: "twice")
        let input = graph.addInput("x", Shape(height: 2, width: 2, channels: 3))
        let double = try graph.append("double", .add, [input, input], residual: input)
        graph.outputs = [double]
        let alone = graph.isolatingLayer(at: 0)
        #expect(alone.sources == [input])
        let x = Tensor(shape: graph.shape(of: input), values: (0..<12).map(Float.init))
        #expect(try reference.compile(alone.graph, batch: 1).run([x])[0].values == x.values.map { $0 * 3 })
    }
}

@Suite("Halves")
struct HalfTests {
    @Test("Every float16 number survives, and what lies between goes to the nearest")
    func rounding() {
        for bits in UInt16.min...UInt16.max {
            let value = float(fromHalf: bits)
            if value.isNaN {
                #expect(float(fromHalf: halfBits(of: value)).isNaN)
            } else {
                #expect(halfBits(of: value) == bits)
            }
        }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<100_000 {
            let value = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            guard !value.isNaN else { continue }
            #expect(float(fromHalf: halfBits(of: value)) == roundedToHalf(value), "\(value)")
        }
        #expect(halfBits(of: 65_519.996) == 0x7bff && halfBits(of: 65_520) == 0x7c00)
        #expect(halfBits(of: 0x1p-25) == 0 && halfBits(of: (0x1p-25 as Float).nextUp) == 1)
        #expect(halfBits(of: -0.0) == 0x8000)
    }
}

@Suite("Drawn picture")
struct TestPictureTests {
    @Test("It is the same every time, another for another seed, and has values of all sizes")
    func picture() {
        let picture = TestPicture(width: 65, height: 33, channelCount: 3)
        #expect(picture.bytes.count == 65 * 33 * 3)
        #expect(picture.bytes == TestPicture(width: 65, height: 33, channelCount: 3).bytes)
        #expect(picture.bytes != TestPicture(width: 65, height: 33, channelCount: 3, seed: 2).bytes)
        #expect(Set(picture.bytes.map { $0 / 32 }).count >= 6)
        #expect(TestPicture(width: 1, height: 1, channelCount: 1).bytes.count == 1)
    }
}
