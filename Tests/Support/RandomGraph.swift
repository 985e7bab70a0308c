import ModelGraph

extension SeededGenerator {
    /// A graph of `layerCount` layers with one input, at random but rich in what the passes look for: standalone
    /// activations, residual additions, broadcasts, whole-map pools, concatenations in front of pointwise convolutions.
    ///
    /// All tensors that nobody reads are dead but for the outputs, of which there are one to three.
    package mutating func graph(layerCount: Int) throws -> Graph {
        var graph = Graph(name: "random")
        var tensors = [
            graph.addInput(
                "input", Shape(height: integer(1...7), width: integer(1...7), channels: integer(1...4)))
        ]
        while graph.layers.count < layerCount {
            // Recent tensors more often, so that long chains arise.
            let recent = tensors.suffix(4)
            let input = integer(0...2) == 0 ? pick(tensors) : pick(Array(recent))
            if integer(0...7) == 0 {
                tensors.append(try appendPoolingBranch(to: &graph, beside: input))
                continue
            }
            if integer(0...7) == 0 {
                tensors.append(try appendEnlargement(of: input, to: &graph))
                continue
            }
            let name = "layer \(graph.layers.count)"
            let output = "tensor \(graph.layers.count)"
            let (operation, inputs, activation) = layer(on: input, of: graph, among: tensors)
            tensors.append(try graph.append(name, operation, inputs, activation: activation, output: output))
        }
        let outputCount = integer(1...3)
        graph.outputs = Array(graph.layers.suffix(outputCount).map(\.output))
        return graph
    }

    private mutating func layer(on input: TensorID, of graph: Graph, among tensors: [TensorID]) -> (
        Operation, [TensorID], Activation
    ) {
        let shape = graph.shape(of: input)
        let extents = tensors.map { graph.shape(of: $0).extent }
        // Of the map's own size, or broadcast to some other one.
        let partners = tensors.filter {
            let other = graph.shape(of: $0)
            return other.channels == shape.channels
                && (other.extent == shape.extent || other.extent == Extent(1) || shape.extent == Extent(1))
        }
        let activation: Activation = integer(0...2) == 0 ? pick(Activation.allCases) : .none
        switch integer(0...15) {
        case 0...2: return (.convolution(pointwise(shape.channels, to: integer(1...4))), [input], activation)
        case 3:
            let kernel = integer(1...3)
            let convolution = Convolution(
                weights: weights(
                    [integer(1...4), shape.channels, kernel, kernel], fanIn: shape.channels * kernel * kernel),
                bias: nil, stride: Extent(integer(1...2)), padding: Padding(kernel - 1))
            return (.convolution(convolution), [input], activation)
        case 4:
            let convolution = Convolution(
                weights: weights([shape.channels, 1, 3, 3], fanIn: 9), bias: bias(shape.channels), padding: Padding(1))
            return (.depthwiseConvolution(convolution), [input], activation)
        case 5...6: return (.activation, [input], pick(Activation.allCases))
        case 7...8: return (.add, [input, pick(partners)], activation)
        case 9: return (.multiply, [input, pick(partners)], activation)
        case 10...11:
            let sameExtent = tensors.filter { graph.shape(of: $0).extent == shape.extent }
            return (.concatenate, [input] + (0..<integer(0...3)).map { _ in pick(sameExtent) }, .none)
        case 12: return (.globalAveragePool, [input], .none)
        case 13:
            let pool = Pool(
                kernel: Extent(height: shape.height + 1, width: shape.width), stride: Extent(integer(1...3)),
                padding: Padding(top: 1, left: 0, bottom: 0, right: 0), countsPadding: integer(0...1) == 0)
            return (.averagePool(pool), [input], .none)
        case 14:
            return (.resizeBilinear(pick(extents), pick(ResizeConvention.allCases)), [input], .none)
        default:
            return (
                integer(0...1) == 0 ? .softmax : .maxPool(Pool(kernel: Extent(1), stride: Extent(1))), [input], .none
            )
        }
    }

    /// The mean of a map, spread over it, and the map itself, in front of a pointwise convolution.
    private mutating func appendPoolingBranch(to graph: inout Graph, beside map: TensorID) throws -> TensorID {
        let shape = graph.shape(of: map)
        let name = "branch \(graph.layers.count)"
        let mean = try graph.append("\(name)/mean", .globalAveragePool, [map])
        let pooled = try graph.append(
            "\(name)/pooled", .convolution(pointwise(shape.channels, to: integer(1...3))), [mean],
            activation: pick(Activation.allCases))
        let spread = try graph.append(
            "\(name)/spread", .resizeBilinear(shape.extent, pick(ResizeConvention.allCases)), [pooled])
        let both = try graph.append(
            "\(name)/both", .concatenate, integer(0...1) == 0 ? [map, spread] : [spread, map, map])
        return try graph.append(
            name, .convolution(pointwise(graph.shape(of: both).channels, to: integer(1...3))), [both])
    }

    /// A map at twice its size or a little more, in front of a pointwise convolution.
    private mutating func appendEnlargement(of map: TensorID, to graph: inout Graph) throws -> TensorID {
        let shape = graph.shape(of: map)
        let extent = Extent(
            height: min(15, 2 * shape.height + integer(0...1)), width: min(15, 2 * shape.width + integer(0...1)))
        let name = "enlargement \(graph.layers.count)"
        let large = try graph.append(
            "\(name)/large", .resizeBilinear(extent, pick(ResizeConvention.allCases)), [map])
        return try graph.append(
            name, .convolution(pointwise(shape.channels, to: integer(1...shape.channels))), [large])
    }

    private mutating func pointwise(_ inputs: Int, to outputs: Int) -> Convolution {
        Convolution(
            weights: weights([outputs, inputs, 1, 1], fanIn: inputs), bias: integer(0...1) == 0 ? bias(outputs) : nil,
            stride: Extent(integer(0...3) == 0 ? 2 : 1))
    }
}
