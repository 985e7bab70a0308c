/// One layer of a graph as a graph of its own.
package struct IsolatedLayer: Sendable {
    /// The layer alone; its output is the graph's.
    package let graph: Graph
    /// What `graph.inputs` stand for, in their order: tensors of the graph that the layer was taken from.
    package let sources: [TensorID]
}

extension Graph {
    /// A layer alone: whatever it reads, each tensor once, becomes an input.
    ///
    /// - Parameter index: Position in `layers`.
    package func isolatingLayer(at index: Int) -> IsolatedLayer {
        let layer = layers[index]
        var sources: [TensorID] = []
        for id in layer.reads where !sources.contains(id) { sources.append(id) }

        var alone = Graph(name: layer.name)
        var places: [TensorID: TensorID] = [:]
        for id in sources { places[id] = alone.addInput(self[id].name, shape(of: id)) }
        let output = alone.addTensor(self[layer.output].name, shape(of: layer.output))
        places[layer.output] = output
        // Sources and output are all that a layer knows.
        alone.layers = [layer.mappingTensors { places[$0]! }]
        alone.outputs = [output]
        return IsolatedLayer(graph: alone, sources: sources)
    }

    /// The same network with weights and biases stored otherwise: with `.float16` each is the nearest one of that format.
    package func storingWeights(as format: Weights.Format) -> Graph {
        guard format == .float16 else { return self }
        var graph = self
        for index in graph.layers.indices { graph.layers[index].operation.roundWeightsToHalf() }
        return graph
    }
}

extension Operation {
    fileprivate mutating func roundWeightsToHalf() {
        func rounded(_ convolution: Convolution) -> Convolution {
            var convolution = convolution
            convolution.weights = convolution.weights.roundedToHalf()
            convolution.bias = convolution.bias?.roundedToHalf()
            return convolution
        }
        switch self {
        case .convolution(let convolution): self = .convolution(rounded(convolution))
        case .depthwiseConvolution(let convolution): self = .depthwiseConvolution(rounded(convolution))
        case .transposeConvolution(let convolution): self = .transposeConvolution(rounded(convolution))
        default: break
        }
    }
}

extension Weights {
    fileprivate func roundedToHalf() -> Weights {
        format == .float16
            ? self : Weights(shape: shape, values: floats().map { float(fromHalf: halfBits(of: $0)) })
    }
}
