import CPUBackend
import ModelGraph
import Synchronization
import TestSupport
import Testing

@Suite("Random networks on the processor", .serialized)
struct NetworkTests {
    /// A network, its input and what every output must be.
    struct Sample: Sendable, CustomTestStringConvertible {
        let graph: Graph
        let inputs: [Tensor]
        let expected: [ReferenceTensor]

        init(_ graph: Graph, seed: UInt64, batch: Int) {
            var generator = SeededGenerator(seed: seed)
            self.graph = graph
            inputs = graph.inputs.map { generator.tensor(batch: batch, graph.shape(of: $0), -1...1) }
            let tensors = Reference.run(graph, inputs)
            expected = graph.outputs.map { tensors[$0.index] }
        }

        var batch: Int { inputs[0].batch }
        var testDescription: String { graph.name }
    }

    static let samples: [Sample] = (1...6 as ClosedRange<UInt64>).flatMap { seed in
        NetworkSketch.networks(seed: seed).map { Sample($0, seed: seed, batch: seed % 3 == 0 ? 3 : 1) }
    }

    /// Rounding of a dozen layers in a row, far under what a wrong tap or a stale value makes.
    static let tolerance = 1e-4

    @Test("agree with the float64 reference, as they are and optimised", arguments: ways)
    func reference(_ set: InstructionSet, threads: Int) throws {
        let backend = try CPUBackend(threads: threads, instructionSet: set)
        for sample in Self.samples {
            for graph in [sample.graph, sample.graph.optimized()] {
                let compiled = try backend.compile(graph, batch: sample.batch)
                // Twice, first on NaNs: the arena must carry nothing from one picture to the next.
                _ = try compiled.runGuarded(
                    sample.inputs.map {
                        Tensor(
                            batch: $0.batch, shape: $0.shape,
                            values: [Float](repeating: .nan, count: $0.values.count))
                    })
                let results = try compiled.runGuarded(sample.inputs)
                for (result, expected) in zip(results, sample.expected) {
                    let difference = expected.largestDifference(from: result)
                    #expect(
                        difference <= Self.tolerance,
                        "\(sample.graph.name), \(graph.layers.count) layers, \(backend.deviceName): \(difference)")
                }
            }
        }
    }

    /// Combinations that no network has: the passes must keep their meaning on the processor too.
    @Test("agree with the float64 reference where layers follow one another at random", arguments: ways)
    func randomGraphs(_ set: InstructionSet, threads: Int) throws {
        let backend = try CPUBackend(threads: threads, instructionSet: set)
        for seed in 1...60 as ClosedRange<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let graph = try generator.graph(layerCount: generator.integer(4...24)).removingDeadLayers()
            let inputs = graph.inputs.map { generator.tensor(graph.shape(of: $0), -1...1) }
            let tensors = Reference.run(graph, inputs)
            for variant in [graph, graph.optimized()] {
                let results = try backend.compile(variant, batch: 1).runGuarded(inputs)
                for (result, output) in zip(results, graph.outputs) {
                    let wrong = zip(result.values, tensors[output.index].values).first {
                        !Precision.float32.accepts($0, reference: $1)
                    }
                    #expect(wrong == nil, "seed \(seed), \(variant.layers.count) layers, \(backend.deviceName)")
                }
            }
        }
    }

    @Test("give the same bytes on any number of threads and in any run", arguments: InstructionSet.available)
    func determinism(_ set: InstructionSet) throws {
        for sample in Self.samples {
            let graph = sample.graph.optimized()
            let first = try CPUBackend(threads: 1, instructionSet: set).compile(graph, batch: sample.batch)
                .runGuarded(sample.inputs)
            for threads in 1...3 {
                let compiled = try CPUBackend(threads: threads, instructionSet: set).compile(graph, batch: sample.batch)
                for _ in 1...20 {
                    let again = try compiled.runGuarded(sample.inputs)
                    #expect(again.hasBytes(of: first), "\(graph.name), \(threads) threads")
                }
            }
        }
    }

    @Test("give a batch what its pictures get alone, byte for byte", arguments: InstructionSet.available)
    func batches(_ set: InstructionSet) throws {
        let backend = try CPUBackend(threads: 2, instructionSet: set)
        for sample in Self.samples where sample.batch > 1 {
            let together = try backend.compile(sample.graph, batch: sample.batch).runGuarded(sample.inputs)
            let single = try backend.compile(sample.graph, batch: 1)
            for picture in 0..<sample.batch {
                let alone = try single.runGuarded(sample.inputs.map { $0.picture(picture) })
                #expect(alone.hasBytes(of: together.map { $0.picture(picture) }), "\(sample.graph.name)")
            }
        }
    }

    @Test("may run side by side on one backend")
    func sideBySide() async throws {
        let backend = try CPUBackend(threads: 2)
        let expected = try Self.samples.map {
            try backend.compile($0.graph, batch: $0.batch).runGuarded($0.inputs)
        }
        let samples = Self.samples
        await withTaskGroup(of: Void.self) { group in
            for index in samples.indices {
                group.addTask {
                    let sample = samples[index]
                    do {
                        let compiled = try backend.compile(sample.graph, batch: sample.batch)
                        for _ in 1...5 {
                            let result = try compiled.runGuarded(sample.inputs)
                            #expect(result.hasBytes(of: expected[index]), "\(sample.graph.name)")
                        }
                    } catch {
                        Issue.record("\(sample.graph.name): \(error)")
                    }
                }
            }
        }
    }

    @Test("are profiled with the same result and a time for each layer")
    func profile() throws {
        let backend = try CPUBackend(threads: 2)
        for sample in Self.samples.prefix(3) {
            let compiled = try backend.compile(sample.graph.optimized(), batch: sample.batch)
            let result = try compiled.runGuarded(sample.inputs)
            let (profiled, seconds) = try compiled.profileGuarded(sample.inputs)
            #expect(profiled.hasBytes(of: result))
            #expect(seconds.count == compiled.graph.layers.count)
            #expect(seconds.allSatisfy { $0 >= 0 } && seconds.reduce(0, +) > 0)
        }
    }

    @Test("need less memory than all their tensors together")
    func arena() throws {
        let backend = try CPUBackend(threads: 1)
        for sample in Self.samples {
            let graph = sample.graph.optimized()
            let compiled = try backend.compile(graph, batch: 1)
            // A blocked tensor has its channels rounded up to a register's width, sixteen at most.
            let all = graph.tensors.map { $0.shape.pixelCount * (($0.shape.channels + 15) / 16 * 16) * 4 }.reduce(0, +)
            #expect(compiled.arenaByteCount > 0)
            #expect(compiled.arenaByteCount < all * 3 / 4, "\(graph.name): \(compiled.arenaByteCount) of \(all) bytes")
        }
    }
}
