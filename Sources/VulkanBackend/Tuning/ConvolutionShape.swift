import ModelGraph

/// Which shaders compute a convolution.
package enum ConvolutionKind: String, Sendable, CaseIterable {
    /// A matrix product over the pixels.
    case pointwise
    /// Each channel with a kernel of its own.
    case depthwise
    /// Any other that does not enlarge.
    case dense
}

/// All that decides how long the variants of a convolution take: layers of equal shape are measured once.
package struct ConvolutionShape: Hashable, Sendable {
    package let kind: ConvolutionKind
    package let input, output: Shape
    package let kernel, stride, dilation: Extent
    package let padding: Padding
    package let activation: Activation
    package let hasResidual, hasPictureBias: Bool
    /// Pictures in every run.
    package let batch: Int

    /// The shape of a layer; nil where it has no variants.
    package init?(_ layer: Layer, in graph: Graph, batch: Int) {
        let convolution: Convolution
        switch layer.operation {
        case .convolution(let dense):
            convolution = dense
            kind = dense.isMatrixProduct ? .pointwise : .dense
        case .depthwiseConvolution(let depthwise):
            convolution = depthwise
            kind = .depthwise
        default: return nil
        }
        input = graph.shape(of: layer.inputs[0])
        output = graph.shape(of: layer.output)
        (kernel, stride, dilation) = (convolution.kernel, convolution.stride, convolution.dilation)
        padding = convolution.padding
        activation = layer.activation
        hasResidual = layer.residual != nil
        hasPictureBias = layer.pictureBias != nil
        self.batch = batch
    }

    /// Inputs that an output is summed over.
    var rows: Int { kernel.height * kernel.width * (kind == .depthwise ? 1 : input.channels) }

    /// Blocks of 4 channels.
    var inputBlocks: Int { (input.channels + 3) / 4 }
    var outputBlocks: Int { (output.channels + 3) / 4 }

    /// Output pixels of all pictures.
    var pixels: Int { output.pixelCount * batch }

    /// Everything in one line, the same in every process.
    package var text: String {
        "\(kind.rawValue) \(input) \(output) \(kernel) \(stride) \(dilation) \(padding) \(activation.code) "
            + "\(hasResidual) \(hasPictureBias) \(batch)"
    }
}

extension Convolution {
    /// Whether it is a matrix product over the pixels.
    var isMatrixProduct: Bool { isPointwise && stride == Extent(1) }
}
