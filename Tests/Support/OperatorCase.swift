import ModelGraph

/// One layer with seeded weights and inputs: a row of the table that every backend is driven by.
///
/// A row is printed as the Swift expression that makes it, so that a failure can be pasted back into a test:
///
///     OperatorCase(.convolution(to: 16, kernel: 3, stride: 2, padding: [0, 0, 1, 1]), [33, 33, 3], activation: .relu6)
package struct OperatorCase: Sendable, Hashable {
    /// What the layer computes. Squares are written as one number, other extents as [vertical, horizontal], paddings
    /// as [top, left, bottom, right]: as in the model file.
    package enum Kind: Sendable, Hashable {
        /// A dense or grouped convolution.
        case convolution(
            to: Int, kernel: Extent, stride: Extent = 1, dilation: Extent = 1, padding: Padding = 0, groups: Int = 1,
            bias: Bool = true)
        /// A convolution of each channel with a kernel of its own.
        case depthwise(
            kernel: Extent, stride: Extent = 1, dilation: Extent = 1, padding: Padding = 0, bias: Bool = true)
        /// A transposed convolution.
        case transpose(to: Int, kernel: Extent, stride: Extent = 1, padding: Padding = 0, bias: Bool = true)
        /// Sum of two inputs.
        case add
        /// Product of two inputs.
        case multiply
        /// Channels one after another.
        case concatenate
        /// Mean of each channel over all pixels.
        case globalAveragePool
        /// Mean in a sliding window.
        case averagePool(kernel: Extent, stride: Extent = 1, padding: Padding = 0, countsPadding: Bool = false)
        /// Maximum in a sliding window.
        case maxPool(kernel: Extent, stride: Extent = 1, padding: Padding = 0)
        /// Bilinear resize.
        case resize(Extent, ResizeConvention)
        /// Soft-max over the channels.
        case softmax
        /// Index of the largest channel.
        case argMax
        /// The activation alone.
        case activation
    }

    /// How the input values are drawn.
    package enum Values: String, Sendable, Hashable, CaseIterable {
        /// Uniform in -4...4: enough to reach both bends of every activation.
        case uniform
        /// Nothing but zeros.
        case zeros
        /// Uniform in -100...100.
        case large
        /// Uniform in -5...-1: a padding that is taken for a value is larger than all of them.
        case negative
        /// Integers in -2...2, so that many are equal.
        case few
    }

    /// What is computed.
    package var kind: Kind
    /// Shapes of the operation's inputs.
    package var shapes: [Shape]
    /// Applied last.
    package var activation: Activation
    /// Whether a tensor of the output's shape is added.
    package var residual: Bool
    /// Whether a 1x1 tensor is added to every pixel.
    package var pictureBias: Bool
    /// Whether the operation reads what another layer wrote, not the caller's own memory: backends may have ways of
    /// their own for a network's first layer.
    package var isInner: Bool
    /// Number of pictures.
    package var batch: Int
    /// How the input values are drawn.
    package var values: Values
    /// Where the random numbers begin.
    package var seed: UInt64

    /// Creates a row.
    package init(
        _ kind: Kind, _ shapes: Shape..., activation: Activation = .none, residual: Bool = false,
        pictureBias: Bool = false, isInner: Bool = false, batch: Int = 1, values: Values = .uniform, seed: UInt64 = 1
    ) {
        self.init(
            kind, shapes: shapes, activation: activation, residual: residual, pictureBias: pictureBias,
            isInner: isInner, batch: batch,
            values: values, seed: seed)
    }

    /// Creates a row whose inputs are a list.
    package init(
        _ kind: Kind, shapes: [Shape], activation: Activation = .none, residual: Bool = false,
        pictureBias: Bool = false, isInner: Bool = false, batch: Int = 1, values: Values = .uniform, seed: UInt64 = 1
    ) {
        self.kind = kind
        self.shapes = shapes
        self.activation = activation
        self.residual = residual
        self.pictureBias = pictureBias
        self.isInner = isInner
        self.batch = batch
        self.values = values
        self.seed = seed
    }
}
