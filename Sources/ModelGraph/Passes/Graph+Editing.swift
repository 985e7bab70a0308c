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
}

/// Gives names to layers and tensors that passes add.
struct NameGenerator {
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
