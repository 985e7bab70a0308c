import ModelGraph

/// What came of one layer.
public struct LayerVerdict: Sendable {
    /// Position among the layers of the graph.
    public let index: Int
    /// The layers of the model file whose work it does.
    public let members: [String]
    /// Operator and kernel, as in `conv2d 3x3`.
    public let operation: String
    /// Shape of its result.
    public let shape: Shape
    /// How far its result is from the reference's.
    public let deviation: Deviation
    /// How far it may be.
    public let tolerance: Double

    /// Whether the layer is as it should be.
    public var passes: Bool { deviation.error <= tolerance }
}
