extension Operation {
    /// Name of the operator, as in a model file.
    package var name: String {
        switch self {
        case .convolution: "conv2d"
        case .depthwiseConvolution: "depthwiseConv2d"
        case .transposeConvolution: "transposeConv2d"
        case .add: "add"
        case .multiply: "mul"
        case .concatenate: "concat"
        case .globalAveragePool: "globalAveragePool"
        case .averagePool: "averagePool"
        case .maxPool: "maxPool"
        case .resizeBilinear: "resizeBilinear"
        case .softmax: "softmax"
        case .argMax: "argMax"
        case .activation: "activation"
        }
    }

    /// Name of the operator and the size of its kernel, where it has one: `conv2d 3x3`.
    package var nameWithKernel: String {
        switch self {
        case .convolution(let convolution), .depthwiseConvolution(let convolution),
            .transposeConvolution(let convolution):
            "\(name) \(convolution.kernel)"
        case .averagePool(let pool), .maxPool(let pool): "\(name) \(pool.kernel)"
        default: name
        }
    }

    /// What else there is to say of it, in a few words; empty for most.
    package var details: String {
        switch self {
        case .convolution(let convolution), .depthwiseConvolution(let convolution),
            .transposeConvolution(let convolution):
            [
                convolution.stride == Extent(1) ? nil : "stride \(convolution.stride)",
                convolution.dilation == Extent(1) ? nil : "dilation \(convolution.dilation)",
                convolution.padding == Padding(0) ? nil : "padding \(convolution.padding)",
                convolution.groups == 1 ? nil : "\(convolution.groups) groups",
            ].compactMap(\.self).joined(separator: ", ")
        case .averagePool(let pool), .maxPool(let pool):
            [
                pool.stride == Extent(1) ? nil : "stride \(pool.stride)",
                pool.padding == Padding(0) ? nil : "padding \(pool.padding)",
            ].compactMap(\.self).joined(separator: ", ")
        case .resizeBilinear(_, let convention): convention.rawValue
        default: ""
        }
    }
}
