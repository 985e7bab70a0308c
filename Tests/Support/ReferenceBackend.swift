import ModelGraph

/// `Reference` behind the protocol of the backends, for tests of what runs on top of one.
package struct ReferenceBackend: InferenceBackend {
    /// Creates the backend.
    package init() {}

    /// As in `reference (float64)`.
    package var deviceName: String { "reference (float64)" }

    /// Keeps the graph as it is.
    package func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph {
        CompiledReference(graph: graph, batch: batch)
    }
}

private final class CompiledReference: CompiledGraph {
    let graph: Graph
    let batch: Int

    init(graph: Graph, batch: Int) {
        self.graph = graph
        self.batch = batch
    }

    /// Every tensor is kept, in float64.
    var arenaByteCount: Int { graph.tensors.map(\.shape.elementCount).reduce(0, +) * batch * 8 }

    func run(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) throws {
        _ = try profile(inputs, into: outputs)
    }

    func profile(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) throws
        -> [Double]
    {
        var tensors: [ReferenceTensor?] = Array(repeating: nil, count: graph.tensors.count)
        for (id, values) in zip(graph.inputs, inputs) {
            let input = Tensor(batch: batch, shape: graph.shape(of: id), values: Array(values))
            tensors[id.index] = ReferenceTensor(input)
        }
        let clock = ContinuousClock()
        let durations = graph.layers.map { layer in
            clock.measure {
                let shape = graph.shape(of: layer.output)
                tensors[layer.output.index] = Reference.compute(layer, shape: shape) { tensors[$0.index]! }
            }
        }
        for (id, values) in zip(graph.outputs, outputs) {
            _ = values.update(fromContentsOf: tensors[id.index]!.rounded.values)
        }
        return durations.map { $0 / .seconds(1) }
    }
}
