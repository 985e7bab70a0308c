import ModelGraph

/// How a backend keeps the numbers between its layers, and how far it may then be from the reference.
package enum Precision: String, Sendable, CaseIterable {
    /// float32 throughout.
    case float32
    /// float16 storage, float32 sums. The reference starts from inputs and weights rounded in the same way.
    case float16

    /// Bound on |x - reference| / max(1, |reference|).
    package var tolerance: Double { self == .float32 ? 1e-4 : 2e-3 }

    /// Whether `value` is close enough to the reference; a NaN never is.
    package func accepts(_ value: Float, reference: Double) -> Bool {
        abs(Double(value) - reference) <= tolerance * max(1, abs(reference))
    }

    /// The number as it is stored.
    package func rounded(_ value: Float) -> Float { self == .float32 ? value : roundedToHalf(value) }

    /// The tensor as it is stored.
    package func rounded(_ tensor: Tensor) -> Tensor {
        self == .float32
            ? tensor : Tensor(batch: tensor.batch, shape: tensor.shape, values: tensor.values.map(roundedToHalf))
    }

    /// The weights as they are stored.
    package func rounded(_ weights: Weights) -> Weights {
        self == .float32 ? weights : Weights(shape: weights.shape, values: weights.floats().map(roundedToHalf))
    }
}

/// The nearest number that IEEE 754 binary16 holds, ties to even; past its range, infinity.
package func roundedToHalf(_ value: Float) -> Float {
    guard value.isFinite else { return value }
    // Spacing of binary16 around the value: 2^-10 of its power of two, never under the smallest subnormal number.
    let exponent = value == 0 ? -14 : max(-14, Int(value.exponent))
    let spacing = Float(sign: .plus, exponent: exponent - 10, significand: 1)
    let result = (value / spacing).rounded(.toNearestOrEven) * spacing
    return abs(result) > 65_504 ? Float(signOf: value, magnitudeOf: .infinity) : result
}
