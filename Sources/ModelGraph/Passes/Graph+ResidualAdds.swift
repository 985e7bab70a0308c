extension Graph {
    /// With additions done by the convolution that computes one of their two inputs.
    ///
    /// The convolution adds the other input before the activation, so it must have none of its own; its result must
    /// have no other reader; and both inputs must have one shape. The fused layer stands where the addition stood, for
    /// only there is the other input sure to be known. Of two convolutions the later one adds: its inputs would be kept
    /// alive for longer otherwise.
    package func fusingResidualAdds() -> Graph {
        var graph = self
        var writers = self.writers
        let useCounts = self.useCounts
        var isFused = [Bool](repeating: false, count: layers.count)
        for (index, layer) in layers.enumerated() {
            guard case .add = layer.operation, layer.residual == nil, layer.pictureBias == nil,
                shape(of: layer.inputs[0]) == shape(of: layer.inputs[1])
            else { continue }
            let candidates = layer.inputs.compactMap { writers[$0.index] }.filter { writer in
                let producer = graph.layers[writer]
                guard case .convolution = producer.operation else { return false }
                return producer.activation == .none && producer.residual == nil
                    && useCounts[producer.output.index] == 1
            }
            guard let writer = candidates.max() else { continue }
            let producer = graph.layers[writer]
            var fused = producer
            fused.residual = layer.inputs[0] == producer.output ? layer.inputs[1] : layer.inputs[0]
            fused.activation = layer.activation
            fused.output = layer.output
            fused.members += layer.members
            graph.layers[index] = fused
            writers[layer.output.index] = index
            isFused[writer] = true
        }
        graph.layers = zip(graph.layers, isFused).filter { !$1 }.map(\.0)
        return graph.removingDeadLayers()
    }
}
