import Imaging

/// Squared distances from each pixel to the nearest pixel of a set, exact.
///
/// Source: P. Felzenszwalb, D. Huttenlocher, "Distance Transforms of Sampled Functions", Theory of Computing 8, 2012.
enum DistanceTransform {
    /// More than any distance in a picture.
    static let far: Float = 1e20

    /// - Parameter isInSet: Whether a pixel, by its index, is in the set.
    /// - Returns: A squared distance for each pixel; `far` or more everywhere where the set is empty.
    static func squaredDistances(_ size: PixelSize, to isInSet: (Int) -> Bool) -> [Float] {
        var distances = (0..<size.pixelCount).map { isInSet($0) ? Float(0) : far }
        var pass = LowerEnvelope(length: max(size.width, size.height))
        distances.withUnsafeMutableBufferPointer { distances in
            guard let base = distances.baseAddress else { return }
            for x in 0..<size.width { pass.apply(base + x, count: size.height, stride: size.width) }
            for y in 0..<size.height { pass.apply(base + y * size.width, count: size.width, stride: 1) }
        }
        return distances
    }

    /// The lowest of the parabolas that stand over the values of a line.
    private struct LowerEnvelope {
        private var line: [Float]
        private var vertices: [Int]
        private var bounds: [Float]

        init(length: Int) {
            line = [Float](repeating: 0, count: length)
            vertices = [Int](repeating: 0, count: length)
            bounds = [Float](repeating: 0, count: length + 1)
        }

        mutating func apply(_ values: UnsafeMutablePointer<Float>, count: Int, stride: Int) {
            for index in 0..<count { line[index] = values[index * stride] }
            var last = 0
            vertices[0] = 0
            bounds[0] = -.infinity
            bounds[1] = .infinity
            for q in 1..<max(count, 1) {
                var crossing = crossing(q, vertices[last])
                while crossing <= bounds[last] {
                    last -= 1
                    crossing = self.crossing(q, vertices[last])
                }
                last += 1
                vertices[last] = q
                bounds[last] = crossing
                bounds[last + 1] = .infinity
            }
            last = 0
            for index in 0..<count {
                while bounds[last + 1] < Float(index) { last += 1 }
                let distance = Float(index - vertices[last])
                values[index * stride] = distance * distance + line[vertices[last]]
            }
        }

        /// Where the parabola over `q` becomes the lower one. Two that are both far off count as equally high.
        private func crossing(_ q: Int, _ p: Int) -> Float {
            let height = line[q] >= far && line[p] >= far ? 0 : line[q] - line[p]
            return (height + Float(q * q - p * p)) / Float(2 * (q - p))
        }
    }
}
