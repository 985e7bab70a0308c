import ModelGraph
import TestSupport
import Testing

@Suite("Network sketches")
struct NetworkSketchTests {
    @Test("give values of order one, so that a tolerance means something", arguments: 1...4 as ClosedRange<UInt64>)
    func magnitude(_ seed: UInt64) {
        for graph in NetworkSketch.networks(seed: seed) {
            var generator = SeededGenerator(seed: seed)
            let inputs = graph.inputs.map { generator.tensor(graph.shape(of: $0), -1...1) }
            let tensors = Reference.run(graph, inputs)
            for output in graph.outputs {
                let values = tensors[output.index].values
                let mean = values.reduce(0, +) / Double(values.count)
                let deviation = (values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(values.count))
                    .squareRoot()
                #expect(
                    (0.01...30).contains(deviation), "\(graph.name): \(graph[output].shape) deviates by \(deviation)")
            }
        }
    }

    @Test("are the same for the same seed and others for another")
    func seeds() {
        func outline(_ seed: UInt64) -> [String] {
            NetworkSketch.networks(seed: seed).flatMap { graph in graph.layers.map { "\(graph[$0.output].shape)" } }
        }
        #expect(outline(1) == outline(1))
        #expect(outline(1) != outline(2))
    }
}
