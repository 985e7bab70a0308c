extension Graph {
    /// Without the layers that give their input unchanged: resizes to the same size (under every convention), pools of
    /// a single pixel, concatenations of one tensor, activations that change nothing after the one before.
    ///
    /// The layer that computes the value counts the dropped one among its members. A dropped layer whose result is an
    /// output leaves its name to the tensor that takes its place.
    package func droppingIdentities() -> Graph {
        var graph = self
        var writers = self.writers
        var isOutput = [Bool](repeating: false, count: tensors.count)
        for output in outputs { isOutput[output.index] = true }
        var replacement = tensors.indices.map(TensorID.init(index:))
        var isDropped = [Bool](repeating: false, count: layers.count)

        for index in layers.indices {
            let layer = graph.layers[index].mappingTensors { replacement[$0.index] }
            graph.layers[index] = layer
            guard graph.isIdentity(layer, writers: writers) else { continue }
            let (input, output) = (layer.inputs[0], layer.output)
            if isOutput[output.index] {
                // A graph cannot give its own input, nor one tensor under two names.
                guard writers[input.index] != nil, !isOutput[input.index] else { continue }
                isOutput[input.index] = true
                graph.tensors[input.index].name = graph.tensors[output.index].name
            }
            if let writer = writers[input.index] { graph.layers[writer].members += layer.members }
            replacement[output.index] = input
            writers[output.index] = nil
            isDropped[index] = true
        }
        graph.outputs = outputs.map { replacement[$0.index] }
        graph.layers = zip(graph.layers, isDropped).filter { !$1 }.map(\.0)
        return graph.removingDeadLayers()
    }

    private func isIdentity(_ layer: Layer, writers: [Int?]) -> Bool {
        guard layer.residual == nil, layer.pictureBias == nil else { return false }
        if case .activation = layer.operation {
            let before = writers[layer.inputs[0].index].map { layers[$0].activation }
            return layer.activation.changesNothing(after: before ?? .none)
        }
        guard layer.activation == .none else { return false }
        let input = shape(of: layer.inputs[0])
        return switch layer.operation {
        case .resizeBilinear(let extent, _): extent == input.extent
        case .concatenate: layer.inputs.count == 1
        case .globalAveragePool: input.extent == Extent(1)
        case .averagePool(let pool), .maxPool(let pool):
            pool.kernel == Extent(1) && pool.stride == Extent(1) && pool.padding == Padding(0)
        default: false
        }
    }
}

extension Activation {
    /// Whether every value that `first` gives stays as it is.
    func changesNothing(after first: Activation) -> Bool {
        switch self {
        case .none: true
        case .relu: [.relu, .relu6, .hardSigmoid, .sigmoid].contains(first)
        case .relu6: [.relu6, .hardSigmoid, .sigmoid].contains(first)
        case .hardSwish, .hardSigmoid, .sigmoid: false
        }
    }
}
