// What the passes have in common.

extension Graph {
    /// For each tensor, the position in `layers` of the layer that writes it; nil for inputs.
    var writers: [Int?] {
        var writers = [Int?](repeating: nil, count: tensors.count)
        for (index, layer) in layers.enumerated() { writers[layer.output.index] = index }
        return writers
    }

    /// For each tensor, how often it is read, being an output included.
    var useCounts: [Int] {
        var counts = [Int](repeating: 0, count: tensors.count)
        for layer in layers {
            for tensor in layer.reads { counts[tensor.index] += 1 }
        }
        for output in outputs { counts[output.index] += 1 }
        return counts
    }

    /// Without the layers that no output depends on, and without tensors that no layer left writes or reads.
    ///
    /// Inputs stay, for callers count on them.
    package func removingDeadLayers() -> Graph {
        var isLive = [Bool](repeating: false, count: tensors.count)
        for output in outputs { isLive[output.index] = true }
        var kept: [Layer] = []
        for layer in layers.reversed() where isLive[layer.output.index] {
            for tensor in layer.reads { isLive[tensor.index] = true }
            kept.append(layer)
        }
        for input in inputs { isLive[input.index] = true }

        var graph = Graph(name: name)
        var places = [TensorID?](repeating: nil, count: tensors.count)
        for index in tensors.indices where isLive[index] {
            places[index] = graph.addTensor(tensors[index].name, tensors[index].shape)
        }
        // Whatever is asked for is live: outputs, inputs, and what live layers read and write.
        func place(_ id: TensorID) -> TensorID { places[id.index]! }
        graph.inputs = inputs.map(place)
        graph.outputs = outputs.map(place)
        graph.layers = kept.reversed().map { $0.mappingTensors(place) }
        return graph
    }

    /// Checks what every graph promises: order, single writers, unique names, shapes that fit.
    ///
    /// Building and reading graphs keeps these promises; this is for tests of what rewrites them.
    package func check() throws(GraphError) {
        var isWritten = [Bool](repeating: false, count: tensors.count)
        var names: Set<String> = []
        for input in inputs { isWritten[input.index] = true }
        for layer in layers {
            guard names.insert(layer.name).inserted else { throw GraphError(layer: layer.name, "is not alone") }
            for tensor in layer.reads where !isWritten[tensor.index] {
                throw GraphError(layer: layer.name, "reads \(self[tensor].name), which is not written yet")
            }
            guard !isWritten[layer.output.index] else {
                throw GraphError(layer: layer.name, "writes \(self[layer.output].name) again")
            }
            isWritten[layer.output.index] = true
            guard !layer.members.isEmpty else { throw GraphError(layer: layer.name, "has no members") }

            let shape = try layer.operation.outputShape(for: layer.inputs.map(self.shape(of:)), layer: layer.name)
            guard shape == self.shape(of: layer.output) else {
                throw GraphError(layer: layer.name, "gives \(shape), declared \(self.shape(of: layer.output))")
            }
            if let residual = layer.residual, self.shape(of: residual) != shape {
                throw GraphError(layer: layer.name, "adds \(self.shape(of: residual)) to \(shape)")
            }
            let constant = Shape(height: 1, width: 1, channels: shape.channels)
            if let pictureBias = layer.pictureBias, self.shape(of: pictureBias) != constant {
                throw GraphError(layer: layer.name, "adds \(self.shape(of: pictureBias)) to every pixel of \(shape)")
            }
        }
        for output in outputs {
            guard isWritten[output.index], !inputs.contains(output) else {
                throw GraphError(layer: self[output].name, "is an output that no layer writes")
            }
        }
        guard Set(tensors.map(\.name)).count == tensors.count else {
            throw GraphError(layer: name, "has tensors of the same name")
        }
    }
}

/// Gives names to layers and tensors that passes add.
struct NameSource {
    private var taken: Set<String>

    init(_ graph: Graph) { taken = Set(graph.layers.map(\.name) + graph.tensors.map(\.name)) }

    /// `wish`, or `wish` with a number after it where a file had the same idea.
    mutating func unused(_ wish: String) -> String {
        var name = wish
        var number = 1
        while !taken.insert(name).inserted {
            number += 1
            name = "\(wish) \(number)"
        }
        return name
    }
}

extension [String] {
    /// Each name once, where it stands first. Without this, members that come together from two sides would double at
    /// every layer of a chain.
    var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

extension Layer {
    /// The layer on other tensors.
    func mappingTensors(_ place: (TensorID) -> TensorID) -> Layer {
        var layer = self
        layer.inputs = inputs.map(place)
        layer.residual = residual.map(place)
        layer.pictureBias = pictureBias.map(place)
        layer.output = place(output)
        return layer
    }

    /// Nothing is added to the operation's result and nothing is applied to it.
    var isBare: Bool { residual == nil && pictureBias == nil && activation == .none }
}
