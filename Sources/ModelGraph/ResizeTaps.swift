/// What one output row or column of a bilinear resize is made of.
package struct ResizeTap: Hashable, Sendable {
    /// Index of the first neighbour in the input.
    package let first: Int
    /// Index of the second neighbour; the same as the first at the edge.
    package let second: Int
    /// Share of the second neighbour, 0 ..< 1; the first has the rest.
    package let share: Double

    /// The two neighbours of a position in pixel centres; positions past the edge pixels are held to them.
    ///
    /// - Parameter length: Rows or columns of the input.
    package init(at position: Double, length: Int) {
        let held = min(max(position, 0), Double(length - 1))
        first = Int(held)
        second = min(first + 1, length - 1)
        share = held - Double(first)
    }
}

extension ResizeConvention {
    /// The taps of every output position, for an input of `source` and an output of `target` rows or columns.
    ///
    /// Positions are computed in float64, so that they are exact to far less than a pixel at every size.
    package func taps(from source: Int, to target: Int) -> [ResizeTap] {
        (0..<target).map { index in
            let position: Double =
                switch self {
                case .alignCorners: target == 1 ? 0 : Double(index * (source - 1)) / Double(target - 1)
                case .halfPixel: (Double(index) + 0.5) * Double(source) / Double(target) - 0.5
                case .asymmetric: Double(index * source) / Double(target)
                }
            return ResizeTap(at: position, length: source)
        }
    }
}
