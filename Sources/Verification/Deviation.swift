import ModelGraph

/// How far a tensor is from what it should be, and where it is farthest.
package struct Deviation: Sendable {
    /// The largest |x - reference| / max(1, |reference|); infinite where a value is a NaN or the only infinite one.
    package let error: Double
    /// The mean of |x - reference|; infinite or NaN where a value is.
    package let meanError: Double
    /// Where the largest is.
    package let row, column, channel: Int
    /// What is there, and what should be.
    package let value, reference: Float

    /// Compares tensors of one picture and one shape.
    package init(of tensor: Tensor, from reference: Tensor) {
        precondition(tensor.batch == 1 && reference.batch == 1 && tensor.shape == reference.shape)
        var worst = (error: -1.0, index: 0)
        var sum = 0.0
        for (index, (value, reference)) in zip(tensor.values, reference.values).enumerated() {
            let error = Self.error(of: value, from: reference)
            if error > worst.error { worst = (error, index) }
            if value != reference { sum += abs(Double(value) - Double(reference)) }
        }
        meanError = sum / Double(reference.values.count)
        let (pixel, channel) = worst.index.quotientAndRemainder(dividingBy: tensor.shape.channels)
        error = worst.error
        row = pixel / tensor.shape.width
        column = pixel % tensor.shape.width
        self.channel = channel
        value = tensor.values[worst.index]
        self.reference = reference.values[worst.index]
    }

    private static func error(of value: Float, from reference: Float) -> Double {
        if value == reference || (value.isNaN && reference.isNaN) { return 0 }
        let error = abs(Double(value) - Double(reference)) / max(1, abs(Double(reference)))
        return error.isNaN ? .infinity : error
    }
}
