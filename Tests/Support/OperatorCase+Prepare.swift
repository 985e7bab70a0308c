import ModelGraph

/// A row made runnable: its graph, its inputs, and what must come out.
package struct PreparedCase: Sendable {
    /// The row.
    package let row: OperatorCase
    /// How numbers are stored.
    package let precision: Precision
    /// The layer, the last of this graph.
    package let graph: Graph
    /// One tensor for each of the graph's inputs: the operation's, the residual, the picture bias.
    package let inputs: [Tensor]
    /// The reference's result.
    package let expected: ReferenceTensor
}

extension OperatorCase {
    /// Draws weights and inputs, builds the graph and computes the reference.
    ///
    /// - Throws: `GraphError` when the row's shapes do not fit its operation.
    package func prepared(_ precision: Precision = .float32) throws -> PreparedCase {
        var generator = SeededGenerator(seed: seed)
        let graph = try graph(precision, &generator)
        let inputs = graph.inputs.map { id in precision.rounded(draw(graph.shape(of: id), &generator)) }
        return PreparedCase(
            row: self, precision: precision, graph: graph, inputs: inputs,
            expected: Reference.run(graph, inputs)[graph.outputs[0].index])
    }

    /// Multiply-accumulates of the row, or values where there are no weights: tells small rows from large ones.
    ///
    /// - Throws: `GraphError` when the row's shapes do not fit its operation.
    package func macCount() throws -> Int {
        var generator = SeededGenerator(seed: seed)
        let graph = try graph(.float32, &generator)
        let perValue: Int =
            switch graph.layers[graph.layers.count - 1].operation {
            case .convolution(let convolution), .depthwiseConvolution(let convolution),
                .transposeConvolution(let convolution):
                convolution.weights.shape.dropFirst().reduce(1, *)
            case .averagePool(let pool), .maxPool(let pool): pool.kernel.height * pool.kernel.width
            default: 1
            }
        return graph.shape(of: graph.outputs[0]).elementCount * batch * perValue
    }

    private func graph(_ precision: Precision, _ generator: inout SeededGenerator) throws -> Graph {
        var graph = Graph(name: "case")
        let operation = operation(precision, &generator)
        var sources = shapes.indices.map { graph.addInput("input\($0)", shapes[$0]) }
        let shape = try operation.outputShape(for: shapes, layer: "layer")
        let residual = residual ? graph.addInput("residual", shape) : nil
        let pictureBias = pictureBias ? graph.addInput("pictureBias", [1, 1, shape.channels]) : nil
        if isInner {
            for index in sources.indices {
                sources[index] = try graph.append("copy\(index)", .activation, [sources[index]])
            }
        }
        let output = try graph.append(
            "layer", operation, sources, activation: activation, residual: residual, pictureBias: pictureBias)
        graph.outputs = [output]
        return graph
    }

    private func draw(_ shape: Shape, _ generator: inout SeededGenerator) -> Tensor {
        switch values {
        case .uniform: generator.tensor(batch: batch, shape)
        case .zeros: Tensor(batch: batch, zeros: shape)
        case .large: generator.tensor(batch: batch, shape, -100...100)
        case .negative: generator.tensor(batch: batch, shape, -5 ... -1)
        case .few:
            Tensor(
                batch: batch, shape: shape,
                values: (0..<batch * shape.elementCount).map { _ in Float(generator.integer(-2...2)) })
        }
    }

    /// The operation with its weights.
    private func operation(_ precision: Precision, _ generator: inout SeededGenerator) -> Operation {
        let channels = shapes[0].channels

        func convolution(
            outputs: Int, inputs: Int, kernel: Extent, stride: Extent, dilation: Extent = 1, padding: Padding,
            groups: Int = 1, bias: Bool
        ) -> Convolution {
            let weights = generator.weights(
                [outputs, inputs, kernel.height, kernel.width], fanIn: inputs * kernel.height * kernel.width)
            return Convolution(
                weights: precision.rounded(weights), bias: bias ? precision.rounded(generator.bias(outputs)) : nil,
                stride: stride, dilation: dilation, padding: padding, groups: groups)
        }

        switch kind {
        case .convolution(let outputs, let kernel, let stride, let dilation, let padding, let groups, let bias):
            return .convolution(
                convolution(
                    outputs: outputs, inputs: channels / groups, kernel: kernel, stride: stride, dilation: dilation,
                    padding: padding, groups: groups, bias: bias))
        case .depthwise(let kernel, let stride, let dilation, let padding, let bias):
            return .depthwiseConvolution(
                convolution(
                    outputs: channels, inputs: 1, kernel: kernel, stride: stride, dilation: dilation, padding: padding,
                    bias: bias))
        case .transpose(let outputs, let kernel, let stride, let padding, let bias):
            return .transposeConvolution(
                convolution(
                    outputs: outputs, inputs: channels, kernel: kernel, stride: stride, padding: padding, bias: bias))
        case .add: return .add
        case .multiply: return .multiply
        case .concatenate: return .concatenate
        case .globalAveragePool: return .globalAveragePool
        case .averagePool(let kernel, let stride, let padding, let countsPadding):
            return .averagePool(Pool(kernel: kernel, stride: stride, padding: padding, countsPadding: countsPadding))
        case .maxPool(let kernel, let stride, let padding):
            return .maxPool(Pool(kernel: kernel, stride: stride, padding: padding))
        case .resize(let extent, let convention): return .resizeBilinear(extent, convention)
        case .softmax: return .softmax
        case .argMax: return .argMax
        case .activation: return .activation
        }
    }
}
