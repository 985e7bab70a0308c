/// Values of a batch of pictures in host memory, float32: batch x height x width x channels, channels innermost.
package struct Tensor: Sendable, Equatable {
    package let batch: Int
    package let shape: Shape
    /// The values, `batch * shape.elementCount` of them.
    package var values: [Float]

    /// Creates a tensor; the number of values must fit.
    package init(batch: Int = 1, shape: Shape, values: [Float]) {
        precondition(values.count == batch * shape.elementCount, "\(values.count) values for \(batch) x \(shape)")
        self.batch = batch
        self.shape = shape
        self.values = values
    }

    package init(batch: Int = 1, zeros shape: Shape) {
        self.init(batch: batch, shape: shape, values: [Float](repeating: 0, count: batch * shape.elementCount))
    }
}
