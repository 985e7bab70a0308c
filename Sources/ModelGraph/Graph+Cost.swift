extension Graph {
    /// Multiply-accumulate operations of one layer for one picture; convolutions of any kind count, nothing else does.
    package func macCount(of layer: Layer) -> Int {
        switch layer.operation {
        case .convolution(let convolution), .depthwiseConvolution(let convolution):
            shape(of: layer.output).pixelCount * convolution.weights.count
        case .transposeConvolution(let convolution):
            shape(of: layer.inputs[0]).pixelCount * convolution.weights.count
        default: 0
        }
    }

    /// What pooling costs for one picture, in multiply-accumulate operations: each value of a window is as much as 16, which
    /// a register does at once.
    func poolingCost(of layer: Layer) -> Int {
        switch layer.operation {
        case .averagePool(let pool), .maxPool(let pool):
            16 * shape(of: layer.output).elementCount * pool.kernel.height * pool.kernel.width
        default: 0
        }
    }

    /// Multiply-accumulate operations for one picture.
    package var macCount: Int { layers.map(macCount(of:)).reduce(0, +) }

    package var parameterCount: Int { layers.map(\.parameterCount).reduce(0, +) }
}

extension Layer {
    /// The convolution that the layer is, whatever its kind.
    package var convolution: Convolution? {
        switch operation {
        case .convolution(let convolution), .depthwiseConvolution(let convolution),
            .transposeConvolution(let convolution):
            convolution
        default: nil
        }
    }

    package var parameterCount: Int {
        switch operation {
        case .convolution(let convolution), .depthwiseConvolution(let convolution),
            .transposeConvolution(let convolution):
            convolution.weights.count + (convolution.bias?.count ?? 0)
        case .add, .multiply, .concatenate, .globalAveragePool, .averagePool, .maxPool, .resizeBilinear, .softmax,
            .argMax, .activation:
            0
        }
    }
}
