import ModelGraph

/// A batch of pictures in float64, in the layout of `Tensor`: batch x height x width x channels.
package struct ReferenceTensor: Sendable, Equatable {
    /// Number of pictures.
    package let batch: Int
    /// Extent of each picture.
    package let shape: Shape
    /// The values, channels innermost.
    package private(set) var values: [Double]

    /// Creates a tensor whose value at (picture, row, column, channel) is what the closure gives.
    @inline(__always)
    package init(batch: Int, shape: Shape, _ value: (Int, Int, Int, Int) -> Double) {
        self.batch = batch
        self.shape = shape
        values = []
        values.reserveCapacity(batch * shape.elementCount)
        for picture in 0..<batch {
            for y in 0..<shape.height {
                for x in 0..<shape.width {
                    for channel in 0..<shape.channels { values.append(value(picture, y, x, channel)) }
                }
            }
        }
    }

    /// The same numbers, widened.
    package init(_ tensor: Tensor) {
        batch = tensor.batch
        shape = tensor.shape
        values = tensor.values.map(Double.init)
    }

    /// The value at (picture, row, column, channel).
    package internal(set) subscript(picture: Int, y: Int, x: Int, channel: Int) -> Double {
        get { values[((picture * shape.height + y) * shape.width + x) * shape.channels + channel] }
        set { values[((picture * shape.height + y) * shape.width + x) * shape.channels + channel] = newValue }
    }

    /// The same numbers, rounded to float32.
    package var rounded: Tensor { Tensor(batch: batch, shape: shape, values: values.map(Float.init)) }
}

extension Weights {
    /// The values in float64.
    var doubles: [Double] { floats().map(Double.init) }
}
