import ModelGraph

/// Builds networks with seeded weights in the words of their drawings: one call a block.
///
/// Activations, sums and broadcasts come as layers of their own, as converters write them, so that passes find work.
package struct NetworkSketch {
    /// The network so far.
    package private(set) var graph: Graph
    /// Where weights and choices come from.
    package var generator: SeededGenerator
    private var layerCount = 0

    /// Creates a network without layers.
    package init(name: String, seed: UInt64) {
        graph = Graph(name: name)
        generator = SeededGenerator(seed: seed)
    }

    /// Adds an input.
    package mutating func input(_ shape: Shape) -> TensorID { graph.addInput("input\(graph.inputs.count)", shape) }

    /// Adds a layer; the shapes of a sketch fit by construction.
    package mutating func layer(_ operation: Operation, _ inputs: TensorID..., activation: Activation = .none)
        -> TensorID
    {
        layer(operation, inputs, activation: activation)
    }

    /// Adds a layer whose inputs are a list.
    package mutating func layer(_ operation: Operation, _ inputs: [TensorID], activation: Activation = .none)
        -> TensorID
    {
        layerCount += 1
        do {
            return try graph.append("layer\(layerCount)", operation, inputs, activation: activation)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// The network, ready to run.
    package func finished(_ outputs: TensorID...) -> Graph {
        var result = graph
        result.outputs = outputs
        return result
    }

    /// Adds an activation, in the layer before or as one of its own, as chance has it.
    private mutating func convolution(_ operation: Operation, _ source: TensorID, _ activation: Activation) -> TensorID
    {
        if activation == .none || generator.integer(0...1) == 0 {
            return layer(operation, source, activation: activation)
        }
        return layer(.activation, layer(operation, source), activation: activation)
    }

    /// Adds a dense convolution that keeps the map's size up to its stride.
    package mutating func dense(
        _ source: TensorID, to outputs: Int, kernel: Int = 1, stride: Int = 1, dilation: Int = 1,
        activation: Activation = .none
    ) -> TensorID {
        let inputs = graph.shape(of: source).channels
        let weights = generator.weights([outputs, inputs, kernel, kernel], fanIn: inputs * kernel * kernel)
        return convolution(
            .convolution(
                Convolution(
                    weights: weights, bias: generator.bias(outputs), stride: Extent(stride), dilation: Extent(dilation),
                    padding: Padding(kernel / 2 * dilation))), source, activation)
    }

    /// Adds a depthwise convolution that keeps the map's size up to its stride.
    package mutating func depthwise(
        _ source: TensorID, kernel: Int = 3, stride: Int = 1, dilation: Int = 1, activation: Activation = .none
    ) -> TensorID {
        let channels = graph.shape(of: source).channels
        let weights = generator.weights([channels, 1, kernel, kernel], fanIn: kernel * kernel)
        return convolution(
            .depthwiseConvolution(
                Convolution(
                    weights: weights, bias: generator.bias(channels), stride: Extent(stride),
                    dilation: Extent(dilation), padding: Padding(kernel / 2 * dilation))), source, activation)
    }

    /// Adds a transposed convolution that doubles the map.
    package mutating func doubled(_ source: TensorID, to outputs: Int, activation: Activation = .none) -> TensorID {
        let inputs = graph.shape(of: source).channels
        let weights = generator.weights([outputs, inputs, 2, 2], fanIn: inputs)
        return convolution(
            .transposeConvolution(Convolution(weights: weights, bias: generator.bias(outputs), stride: 2)), source,
            activation)
    }

    /// Adds an inverted residual block: widen, filter each channel, narrow, and add the input where it fits.
    package mutating func invertedResidual(
        _ source: TensorID, to outputs: Int, expansion: Int, stride: Int = 1, dilation: Int = 1,
        activation: Activation = .relu6
    ) -> TensorID {
        let width = graph.shape(of: source).channels * expansion
        let wide = expansion == 1 ? source : dense(source, to: width, activation: activation)
        let filtered = depthwise(wide, stride: stride, dilation: dilation, activation: activation)
        let narrow = dense(filtered, to: outputs)
        guard graph.shape(of: narrow) == graph.shape(of: source) else { return narrow }
        return generator.integer(0...1) == 0 ? layer(.add, narrow, source) : layer(.add, source, narrow)
    }

    /// Adds a squeeze-and-excitation gate: every channel scaled by what the whole map says of it.
    package mutating func gated(_ source: TensorID, squeeze: Int, gate: Activation) -> TensorID {
        let pooled = layer(.globalAveragePool, source)
        let narrow = dense(pooled, to: squeeze, activation: .relu)
        let scale = dense(narrow, to: graph.shape(of: source).channels, activation: gate)
        return layer(.multiply, source, scale)
    }

    /// Adds DeepLab's head: dilated branches and one over the whole picture, side by side, then mixed.
    package mutating func spatialPyramid(_ source: TensorID, branch: Int, rates: [Int], to outputs: Int) -> TensorID {
        let map = graph.shape(of: source).extent
        var branches = [dense(source, to: branch, activation: .relu)]
        for rate in rates { branches.append(dense(source, to: branch, kernel: 3, dilation: rate, activation: .relu)) }
        let pooled = dense(layer(.globalAveragePool, source), to: branch, activation: .relu)
        let spread = layer(.resizeBilinear(map, .alignCorners), pooled)
        branches.insert(spread, at: generator.integer(0...branches.count))
        return dense(layer(.concatenate, branches), to: outputs, activation: .relu)
    }
}
