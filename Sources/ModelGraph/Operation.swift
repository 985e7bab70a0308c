/// A function applied to every value of a layer's result.
package enum Activation: String, Hashable, Sendable, CaseIterable {
    /// x
    case none
    /// max(x, 0)
    case relu
    /// min(max(x, 0), 6)
    case relu6
    /// x * min(max(x + 3, 0), 6) / 6
    case hardSwish
    /// min(max(x + 3, 0), 6) / 6
    case hardSigmoid
    /// 1 / (1 + exp(-x))
    case sigmoid
}

/// Where an output pixel of a resize lies in the input.
///
/// With `i` the output index, `n` the input's and `m` the output's length.
package enum ResizeConvention: String, Hashable, Sendable, CaseIterable {
    /// i * (n - 1) / (m - 1): the corner pixels' centres coincide. With m = 1 the position is 0.
    case alignCorners
    /// (i + 0.5) * n / m - 0.5, clamped to 0 ... n - 1: the pictures' outer edges coincide.
    case halfPixel
    /// i * n / m, clamped to n - 1: the top left corners coincide.
    case asymmetric
}

/// What a convolution of any kind needs besides its input.
package struct Convolution: Sendable {
    /// Dense: output x input / groups x height x width. Depthwise: channels x 1 x height x width.
    /// Transposed: output x input x height x width, where
    /// `out[o, y * stride + ky - top, x * stride + kx - left] += in[i, y, x] * weights[o, i, ky, kx]`.
    package var weights: Weights
    /// One value for each output channel; zero where absent.
    package var bias: Weights?
    /// Step between neighbouring outputs (for a transposed one: between neighbouring inputs).
    package var stride: Extent
    /// Distance between neighbouring taps.
    package var dilation: Extent
    /// Zeros around the input (for a transposed one: rows and columns cut off the output).
    package var padding: Padding
    /// Number of independent groups of channels; 1 for a dense convolution.
    package var groups: Int

    /// Creates a convolution; shapes are checked when it becomes part of a graph.
    package init(
        weights: Weights, bias: Weights? = nil, stride: Extent = Extent(1), dilation: Extent = Extent(1),
        padding: Padding = Padding(0), groups: Int = 1
    ) {
        self.weights = weights
        self.bias = bias
        self.stride = stride
        self.dilation = dilation
        self.padding = padding
        self.groups = groups
    }

    /// Rows and columns of taps.
    package var kernel: Extent { Extent(height: weights.shape[2], width: weights.shape[3]) }

    /// One tap, no padding: a matrix product over the pixels (at stride 1).
    package var isPointwise: Bool { kernel == Extent(1) && padding == Padding(0) && groups == 1 }
}

/// A window that slides over each channel on its own.
package struct Pool: Hashable, Sendable {
    /// Rows and columns of the window.
    package var kernel: Extent
    /// Step between neighbouring outputs.
    package var stride: Extent
    /// Rows and columns around the input; they never win a maximum.
    package var padding: Padding
    /// Whether an average divides by the whole window (true) or by the pixels that lie inside the map (false).
    package var countsPadding: Bool

    /// Creates a pool; shapes are checked when it becomes part of a graph.
    package init(kernel: Extent, stride: Extent, padding: Padding = Padding(0), countsPadding: Bool = false) {
        self.kernel = kernel
        self.stride = stride
        self.padding = padding
        self.countsPadding = countsPadding
    }
}

/// What a layer computes, before its residual and its activation.
package enum Operation: Sendable {
    /// A dense or grouped convolution.
    case convolution(Convolution)
    /// A convolution of each channel with a kernel of its own.
    case depthwiseConvolution(Convolution)
    /// The transpose of a convolution: enlarges its input by the stride.
    case transposeConvolution(Convolution)
    /// Sum of two inputs. A 1x1 input is repeated over the other's pixels.
    case add
    /// Product of two inputs. A 1x1 input is repeated over the other's pixels.
    case multiply
    /// Inputs of one extent, their channels one after another.
    case concatenate
    /// Mean of each channel over all pixels: 1x1xchannels.
    case globalAveragePool
    /// Mean of each channel in a sliding window.
    case averagePool(Pool)
    /// Largest value of each channel in a sliding window.
    case maxPool(Pool)
    /// Bilinear resize without antialiasing.
    case resizeBilinear(Extent, ResizeConvention)
    /// exp(x - max) / sum over the channels of each pixel.
    case softmax
    /// Index of the largest channel of each pixel, the lowest of equals; one channel.
    case argMax
    /// Nothing but the layer's activation.
    case activation
}
