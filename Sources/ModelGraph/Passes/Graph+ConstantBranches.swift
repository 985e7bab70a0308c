extension Graph {
    /// With constant branches of a concatenation in front of a pointwise convolution turned into a bias.
    ///
    /// A pointwise convolution of a concatenation is the sum of convolutions of its parts. Where a part is a broadcast,
    /// as the image-pooling branch of DeepLabV3's spatial pyramid is, its summand is the same at every pixel, and one
    /// product of a vector by a matrix takes the place of one a pixel:
    ///
    /// ```
    /// maps ---------------+                            maps -> convolution (their columns of W) -> result
    ///                     concat -> convolution W                     ^ picture bias
    /// pool -> broadcast --+                            pool -> 1x1 convolution (its columns of W)
    /// ```
    ///
    /// The layer that computes the bias does part of the convolution's work, so both name it among their members.
    package func foldingConstantBranches() -> Graph {
        var graph = self
        graph.layers = []
        var names = NameGenerator(self)
        let writers = self.writers
        let useCounts = self.useCounts
        for layer in layers {
            guard let input = layer.inputs.first, useCounts[input.index] == 1, let writer = writers[input.index],
                let folded = graph.foldConstantBranches(
                    of: layers[writer], into: layer, writers: writers, in: self, &names)
            else {
                graph.layers.append(layer)
                continue
            }
            graph.layers += folded
        }
        return graph.removingDeadLayers()
    }

    /// The layers that take the place of `layer`, nil where there is nothing to fold.
    private mutating func foldConstantBranches(
        of concatenation: Layer, into layer: Layer, writers: [Int?], in original: Graph, _ names: inout NameGenerator
    ) -> [Layer]? {
        guard case .concatenate = concatenation.operation, concatenation.isBare, layer.pictureBias == nil,
            case .convolution(let convolution) = layer.operation, convolution.isPointwise
        else { return nil }

        var maps = Parts()
        var constants = Parts()
        var broadcasts: [String] = []
        var channel = 0
        for input in concatenation.inputs {
            let channels = channel..<channel + shape(of: input).channels
            channel = channels.upperBound
            if let writer = writers[input.index], let source = original.broadcastSource(original.layers[writer]) {
                constants.append(source, channels)
                broadcasts += original.layers[writer].members
            } else {
                maps.append(input, channels)
            }
        }
        guard !constants.tensors.isEmpty, !maps.tensors.isEmpty else { return nil }

        var layers: [Layer] = []
        func name(_ base: String, _ suffix: String) -> String { names.unused("\(base)/\(suffix)") }
        func joined(_ parts: Parts, _ suffix: String) -> TensorID {
            if parts.tensors.count == 1 { return parts.tensors[0] }
            let extent = shape(of: parts.tensors[0]).extent
            let output = addTensor(
                name(self[concatenation.output].name, suffix),
                Shape(height: extent.height, width: extent.width, channels: parts.channels.count))
            layers.append(
                Layer(
                    name: name(concatenation.name, suffix), members: concatenation.members, operation: .concatenate,
                    inputs: parts.tensors, activation: .none, output: output))
            return output
        }

        let constant = joined(constants, "constants")
        let bias = addTensor(
            name(self[layer.output].name, "pictureBias"),
            Shape(height: 1, width: 1, channels: convolution.weights.shape[0]))
        layers.append(
            Layer(
                name: name(layer.name, "pictureBias"), members: broadcasts.unique + layer.members,
                operation: .convolution(Convolution(weights: convolution.weights.columns(constants.channels))),
                inputs: [constant], activation: .none, output: bias))

        var rest = layer
        var restConvolution = convolution
        restConvolution.weights = convolution.weights.columns(maps.channels)
        rest.operation = .convolution(restConvolution)
        if maps.tensors.count == 1 { rest.members = concatenation.members + layer.members }
        rest.inputs = [joined(maps, "maps")]
        rest.pictureBias = bias
        return layers + [rest]
    }

    /// The 1x1 tensor that a layer spreads over a map, nil where it does something else.
    private func broadcastSource(_ layer: Layer) -> TensorID? {
        guard case .resizeBilinear = layer.operation, layer.isBare, shape(of: layer.inputs[0]).extent == Extent(1)
        else {
            return nil
        }
        return layer.inputs[0]
    }
}

/// Some of the inputs of a concatenation.
private struct Parts {
    var tensors: [TensorID] = []
    /// The channels of the concatenation that they hold.
    var channels: [Int] = []

    mutating func append(_ tensor: TensorID, _ range: Range<Int>) {
        tensors.append(tensor)
        channels += range
    }
}

extension Weights {
    /// The weights of a pointwise convolution that reads only the given input channels.
    fileprivate func columns(_ channels: [Int]) -> Weights {
        let values = floats()
        let width = shape[1]
        let selected = (0..<shape[0]).flatMap { row in channels.map { values[row * width + $0] } }
        return Weights(shape: [shape[0], channels.count, 1, 1], values: selected)
    }
}
