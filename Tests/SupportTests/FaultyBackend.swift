import ModelGraph
import TestSupport

/// The reference with one thing wrong in the last layer, to see that the table of cases notices.
struct FaultyBackend: InferenceBackend {
    /// What is wrong, in words.
    let name: String
    /// Puts another layer, or several, in a layer's place and gives what is taken for its result.
    var replace: @Sendable (Layer, inout Graph) throws -> TensorID? = { _, _ in nil }
    /// Spoils buffers after a run: graph, batch, inputs, outputs.
    var spoil: @Sendable (Graph, Int, [UnsafeBufferPointer<Float>], [UnsafeMutableBufferPointer<Float>]) -> Void = {
        _, _, _, _ in
    }

    var deviceName: String { "reference that \(name)" }

    func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph {
        var faulty = Graph(name: graph.name)
        for id in graph.inputs { _ = faulty.addInput(graph[id].name, graph.shape(of: id)) }
        for layer in graph.layers.dropLast() {
            try faulty.append(layer.name, layer.operation, layer.inputs, activation: layer.activation)
        }
        let layer = graph.layers[graph.layers.count - 1]
        if let output = try replace(layer, &faulty), faulty.shape(of: output) == graph.shape(of: layer.output) {
            faulty.outputs = [output]
        } else {
            faulty = graph
        }
        return CompiledFaulty(
            graph: graph, batch: batch, inner: try ReferenceBackend().compile(faulty, batch: batch), spoil: spoil)
    }
}

private final class CompiledFaulty: CompiledGraph {
    let graph: Graph
    let batch: Int
    let inner: any CompiledGraph
    let spoil: @Sendable (Graph, Int, [UnsafeBufferPointer<Float>], [UnsafeMutableBufferPointer<Float>]) -> Void

    init(
        graph: Graph, batch: Int, inner: any CompiledGraph,
        spoil:
            @escaping @Sendable (Graph, Int, [UnsafeBufferPointer<Float>], [UnsafeMutableBufferPointer<Float>]) -> Void
    ) {
        self.graph = graph
        self.batch = batch
        self.inner = inner
        self.spoil = spoil
    }

    var arenaByteCount: Int { inner.arenaByteCount }

    func run(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) throws {
        try inner.run(inputs, into: outputs)
        spoil(graph, batch, inputs, outputs)
    }

    func profile(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) throws
        -> [Double]
    {
        let seconds = try inner.profile(inputs, into: outputs)
        spoil(graph, batch, inputs, outputs)
        return seconds
    }
}
