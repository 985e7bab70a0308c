extension Graph {
    /// With layers that work on each pixel alone computed before a broadcast instead of after it.
    ///
    /// A broadcast is a resize from 1x1: under every convention all its pixels are equal, and so are those of whatever
    /// is computed from broadcasts pixel by pixel. Additions and products repeat a 1x1 input by themselves, so a
    /// broadcast in front of one is left out.
    ///
    /// ```
    /// pool 1x1 -> resize 33x33 -> convolution 33x33        pool 1x1 -> convolution 1x1 -> resize 33x33
    /// ```
    package func delayingBroadcasts() -> Graph {
        var graph = self
        graph.layers = []
        var names = NameGenerator(self)
        var broadcasts: [TensorID: Layer] = [:]

        /// The 1x1 tensor of which all pixels of a tensor are copies.
        func source(of tensor: TensorID) -> TensorID? {
            broadcasts[tensor]?.inputs[0] ?? (shape(of: tensor).extent == Extent(1) ? tensor : nil)
        }
        func members(of inputs: [TensorID]) -> [String] { inputs.flatMap { broadcasts[$0]?.members ?? [] }.unique }

        for var layer in layers {
            let isAfterBroadcast = layer.inputs.contains { broadcasts[$0] != nil }
            let sources = layer.inputs.compactMap(source(of:))
            let isConstant = layer.residual == nil && sources.count == layer.inputs.count

            if case .resizeBilinear = layer.operation, layer.isBare, isConstant {
                layer.members = members(of: layer.inputs) + layer.members
                layer.inputs = sources
                broadcasts[layer.output] = layer
            } else if isAfterBroadcast, isConstant, layer.operation.isPixelwise {
                let constant = graph.addTensor(
                    names.unused("\(self[layer.output].name)/1x1"),
                    Shape(height: 1, width: 1, channels: shape(of: layer.output).channels))
                let broadcast = Layer(
                    name: names.unused("\(layer.name)/broadcast"), members: members(of: layer.inputs),
                    operation: .resizeBilinear(shape(of: layer.output).extent, .alignCorners), inputs: [constant],
                    activation: .none, output: layer.output)
                if case .convolution(var convolution) = layer.operation {
                    convolution.stride = Extent(1)
                    layer.operation = .convolution(convolution)
                }
                layer.inputs = sources
                layer.output = constant
                broadcasts[broadcast.output] = broadcast
                graph.layers += [layer, broadcast]
                continue
            } else if isAfterBroadcast, layer.operation.repeatsInputs {
                layer.members = members(of: layer.inputs) + layer.members
                layer.inputs = layer.inputs.map { source(of: $0) ?? $0 }
            }
            graph.layers.append(layer)
        }
        return graph.removingDeadLayers()
    }
}

extension Operation {
    /// Whether each pixel of the result depends on the same pixel of the inputs alone (or on one pixel, if strided).
    fileprivate var isPixelwise: Bool {
        switch self {
        case .convolution(let convolution): convolution.isPointwise
        case .add, .multiply, .concatenate, .softmax, .argMax, .activation: true
        case .depthwiseConvolution, .transposeConvolution, .globalAveragePool, .averagePool, .maxPool, .resizeBilinear:
            false
        }
    }

    /// Whether a 1x1 input stands for a map of equal pixels.
    fileprivate var repeatsInputs: Bool {
        switch self {
        case .add, .multiply: true
        case .convolution, .depthwiseConvolution, .transposeConvolution, .concatenate, .globalAveragePool, .averagePool,
            .maxPool, .resizeBilinear, .softmax, .argMax, .activation:
            false
        }
    }
}
