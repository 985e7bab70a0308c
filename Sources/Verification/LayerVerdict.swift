import ModelGraph

/// What came of one layer.
package struct LayerVerdict: Sendable {
    /// Position among the layers of the graph.
    package let index: Int
    /// The layers of the model file whose work it does.
    package let members: [String]
    /// Operator and kernel, as in `conv2d 3x3`.
    package let operation: String
    package let shape: Shape
    /// How far its result is from the reference's.
    package let deviation: Deviation
    /// How far it may be.
    package let tolerance: Double

    /// Whether the layer is as it should be.
    package var passes: Bool { deviation.error <= tolerance }
}
