import CPUKernels
import ModelGraph

/// A convolution's bias, to which a picture may add its own.
struct ConvolutionBias: Sendable {
    private let values: FloatBuffer
    /// The sum for the picture that is running, where the layer has a picture's bias.
    private let sum: FloatBuffer
    private let pictureBias: TensorID?

    /// - Parameter values: One for each output channel, padded to whole blocks.
    init(_ values: FloatBuffer, plus pictureBias: TensorID?) {
        self.values = values
        self.pictureBias = pictureBias
        sum = FloatBuffer(count: pictureBias == nil ? 0 : values.count)
    }

    /// The bias of the picture that is running.
    func values(_ context: StepContext) -> UnsafeMutablePointer<Float> {
        guard let pictureBias else { return values.pointer }
        let lanes = Int(context.kernels.lanes)
        context.kernels.add(
            values.pointer, lanes, context[pictureBias], lanes, sum.pointer, values.count / lanes, CKActivationNone)
        return sum.pointer
    }
}
