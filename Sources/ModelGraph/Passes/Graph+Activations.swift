extension Graph {
    /// With standalone activations applied by the layer that computes their input.
    ///
    /// That layer must be one of those that apply activations (convolutions of any kind, additions, products) and have
    /// none yet, and nobody else may need its result without the activation.
    package func fusingActivations() -> Graph {
        var graph = self
        var writers = self.writers
        let useCounts = self.useCounts
        var isFused = [Bool](repeating: false, count: layers.count)
        for (index, layer) in layers.enumerated() {
            guard case .activation = layer.operation, layer.residual == nil, layer.pictureBias == nil,
                useCounts[layer.inputs[0].index] == 1, let writer = writers[layer.inputs[0].index],
                graph.layers[writer].activation == .none, graph.layers[writer].operation.appliesActivations
            else { continue }
            graph.layers[writer].activation = layer.activation
            graph.layers[writer].output = layer.output
            graph.layers[writer].members += layer.members
            writers[layer.output.index] = writer
            isFused[index] = true
        }
        graph.layers = zip(graph.layers, isFused).filter { !$1 }.map(\.0)
        return graph.removingDeadLayers()
    }
}

extension Operation {
    /// Whether backends apply an activation while they write the result.
    fileprivate var appliesActivations: Bool {
        switch self {
        case .convolution, .depthwiseConvolution, .transposeConvolution, .add, .multiply: true
        case .concatenate, .globalAveragePool, .averagePool, .maxPool, .resizeBilinear, .softmax, .argMax, .activation:
            false
        }
    }
}
