import Imaging

/// Draws a coarse map along the edges of a picture.
///
/// Around each place the map is explained as a linear function of the picture's colour; where colours differ, the map gets an edge
/// there, and elsewhere it stays smooth. Source: K. He, J. Sun, X. Tang, "Guided Image Filtering", TPAMI 2013; that the
/// functions may be found in a small picture and applied to the large one: K. He, J. Sun, "Fast Guided Filter", 2015.
struct GuidedFilter {
    private static let epsilon = MatteConstants.standard.epsilon
    private static let certainty = MatteConstants.standard.certainty

    private let guide: Image
    private let radius: Int

    /// - Parameters:
    ///   - guide: RGB without row padding.
    ///   - radius: Columns and rows around a place.
    init(guide: Image, radius: Int) {
        precondition(guide.format == .rgb, "the guide is RGB")
        self.guide = guide
        self.radius = radius
    }

    /// The linear functions for a map of the guide's size: at each place the factors of red, green and blue (0 to 1), and what is
    /// added.
    func functions(for map: Grid<Float>) -> Grid<SIMD4<Float>> {
        typealias Four = SIMD4<Float>
        let size = map.size
        precondition(size == guide.size, "a map of another size than the guide")
        // Means of: colour, map; products of colours; those and products with the map.
        var first = [Four](repeating: .zero, count: size.pixelCount)
        var second = first
        var third = first
        for index in first.indices {
            let color = guide.color(index)
            let value = map.values[index]
            first[index] = Four(color, value)
            second[index] = Four(color.x * color.x, color.x * color.y, color.x * color.z, color.y * color.y)
            third[index] = Four(color.y * color.z, color.z * color.z, color.x * value, color.y * value)
        }
        let fourth = zip(first, map.values).map { Four($0.z * $1, 0, 0, 0) }
        let mean = Grid(size, first).boxMean(radius: radius).values
        let square = Grid(size, second).boxMean(radius: radius).values
        let rest = Grid(size, third).boxMean(radius: radius).values
        let last = Grid(size, fourth).boxMean(radius: radius).values
        var functions = [Four](repeating: .zero, count: size.pixelCount)
        for index in functions.indices {
            functions[index] = Self.solve(mean[index], square[index], rest[index], last[index].x)
        }
        var result = Grid(size, functions).boxMean(radius: radius)
        for index in result.values.indices {
            let value = map.values[index]
            guard value <= Self.certainty || value >= 1 - Self.certainty else { continue }
            let found = result.values[index]
            let color = guide.color(index)
            let filtered = found.x * color.x + found.y * color.y + found.z * color.z + found.w
            if value < 0.5 ? filtered > value : filtered < value { result.values[index] = Four(0, 0, 0, value) }
        }
        return result
    }

    /// Least squares with a ridge: covariance of colour and map times the inverse of the colours' covariance.
    private static func solve(
        _ mean: SIMD4<Float>, _ square: SIMD4<Float>, _ rest: SIMD4<Float>, _ blueAndMap: Float
    ) -> SIMD4<Float> {
        let (r, g, b, p) = (mean.x, mean.y, mean.z, mean.w)
        // Upper triangle of the symmetric matrix, row by row.
        let rr = square.x - r * r + epsilon
        let rg = square.y - r * g
        let rb = square.z - r * b
        let gg = square.w - g * g + epsilon
        let gb = rest.x - g * b
        let bb = rest.y - b * b + epsilon
        let (rp, gp, bp) = (rest.z - r * p, rest.w - g * p, blueAndMap - b * p)
        let (i, j, k) = (gg * bb - gb * gb, rb * gb - rg * bb, rg * gb - rb * gg)
        let determinant = rr * i + rg * j + rb * k
        guard determinant > 0 else { return SIMD4(0, 0, 0, p) }
        let (l, m, n) = (rr * bb - rb * rb, rg * rb - rr * gb, rr * gg - rg * rg)
        let red = (i * rp + j * gp + k * bp) / determinant
        let green = (j * rp + l * gp + m * bp) / determinant
        let blue = (k * rp + m * gp + n * bp) / determinant
        return SIMD4(red, green, blue, p - red * r - green * g - blue * b)
    }
}
