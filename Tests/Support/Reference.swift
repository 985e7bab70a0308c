import ModelGraph

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What every backend is held against: each operator in float64, as its definition reads, in plain loops.
///
/// Nothing here is fast and nothing shares code with a backend.
package enum Reference {
    /// Runs a whole graph and gives every tensor, addressed by `TensorID.index`.
    ///
    /// - Parameter inputs: One tensor for each of the graph's inputs, all of one batch.
    package static func run(_ graph: Graph, _ inputs: [Tensor]) -> [ReferenceTensor] {
        var tensors: [ReferenceTensor?] = Array(repeating: nil, count: graph.tensors.count)
        for (id, input) in zip(graph.inputs, inputs) { tensors[id.index] = ReferenceTensor(input) }
        for layer in graph.layers {
            tensors[layer.output.index] = compute(layer, shape: graph.shape(of: layer.output)) { tensors[$0.index]! }
        }
        return tensors.map { $0! }
    }

    /// Computes one layer: `activation(operation(inputs) + pictureBias + residual)`.
    package static func compute(_ layer: Layer, shape: Shape, reading tensor: (TensorID) -> ReferenceTensor)
        -> ReferenceTensor
    {
        let result = apply(layer.operation, to: layer.inputs.map(tensor), shape: shape)
        let pictureBias = layer.pictureBias.map(tensor)
        let residual = layer.residual.map(tensor)
        return ReferenceTensor(batch: result.batch, shape: shape) { n, y, x, c in
            var value = result[n, y, x, c]
            if let pictureBias { value += pictureBias[n, 0, 0, c] }
            if let residual { value += residual[n, y, x, c] }
            return apply(layer.activation, to: value)
        }
    }

    /// The function of one value.
    package static func apply(_ activation: Activation, to x: Double) -> Double {
        func clampedToSix(_ x: Double) -> Double { x < 0 ? 0 : (x > 6 ? 6 : x) }
        return switch activation {
        case .none: x
        case .relu: x < 0 ? 0 : x
        case .relu6: clampedToSix(x)
        case .hardSwish: x * clampedToSix(x + 3) / 6
        case .hardSigmoid: clampedToSix(x + 3) / 6
        case .sigmoid: 1 / (1 + exp(-x))
        }
    }

    /// The operation alone.
    static func apply(_ operation: Operation, to inputs: [ReferenceTensor], shape: Shape) -> ReferenceTensor {
        switch operation {
        case .convolution(let convolution): convolve(convolution, groups: convolution.groups, inputs[0], shape)
        case .depthwiseConvolution(let convolution): convolve(convolution, groups: shape.channels, inputs[0], shape)
        case .transposeConvolution(let convolution): convolveTransposed(convolution, inputs[0], shape)
        case .add: combine(inputs[0], inputs[1], shape, +)
        case .multiply: combine(inputs[0], inputs[1], shape, *)
        case .concatenate: concatenate(inputs, shape)
        case .globalAveragePool: averageWholeMap(inputs[0], shape)
        case .averagePool(let pool): average(pool, inputs[0], shape)
        case .maxPool(let pool): maximum(pool, inputs[0], shape)
        case .resizeBilinear(_, let convention): resize(inputs[0], shape, convention)
        case .softmax: softmax(inputs[0])
        case .argMax: argMax(inputs[0], shape)
        case .activation: inputs[0]
        }
    }
}
