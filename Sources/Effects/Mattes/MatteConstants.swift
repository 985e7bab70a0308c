/// The numbers that mattes and the colours of their edges are made with, in one place for all who make them: here, the shaders, and
/// the preview's page, which is told them.
package struct MatteConstants: Sendable {
    /// How much the colours around a place must vary to count, as a variance of values between 0 and 1.
    package let epsilon: Float = 1e-4
    /// Where a map is so sure, the picture is not asked.
    package let certainty: Float = 0.01
    /// How steep opacity is over confidence: the edge is as wide as a third of the range of confidences.
    package let steepness: Float = 3
    /// Longer side of the grids of the edge's colours, in places.
    package let colorSide = 200
    /// Places that these colours come from, in a first pass from afar and in a second one from near.
    package let colorRadii = (far: 16, near: 1)

    /// Those in use.
    package static let standard = MatteConstants()
}
