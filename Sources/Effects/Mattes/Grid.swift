import Imaging

/// Values on a grid of pixels, row by row.
///
/// Four floats at each place are filtered and sampled at once: a colour and its weight, for instance.
package struct Grid<Value> {
    /// Columns and rows.
    package let size: PixelSize
    /// The values, `size.pixelCount` of them.
    package var values: [Value]

    /// Creates a grid; the number of values must fit.
    package init(_ size: PixelSize, _ values: [Value]) {
        precondition(values.count == size.pixelCount, "values of another size")
        self.size = size
        self.values = values
    }

    /// A grid whose every value `fill` writes.
    init(_ size: PixelSize, filledBy fill: (UnsafeMutablePointer<Value>) -> Void) {
        self.size = size
        values = [Value](unsafeUninitializedCapacity: size.pixelCount) { buffer, count in
            if let base = buffer.baseAddress { fill(base) }
            count = size.pixelCount
        }
    }
}

extension Grid: Sendable where Value: Sendable {}

extension Grid where Value == SIMD4<Float> {
    /// The mean of the values not farther than `radius` columns and rows away, of those inside the grid.
    ///
    /// The time does not depend on the radius: sums are carried along, first along the columns, then along the rows.
    func boxMean(radius: Int) -> Grid {
        guard radius > 0 else { return self }
        let (width, height) = (size.width, size.height)
        return values.withUnsafeBufferPointer { source in
            Grid(size) { result in
                guard let source = source.baseAddress else { return }
                var sums = BoxSums<Value>(size, radius: radius)
                for y in 0..<min(radius, height) { sums.add(source + y * width) }
                for y in 0..<height {
                    if y + radius < height { sums.add(source + (y + radius) * width) }
                    if y > radius { sums.subtract(source + (y - radius - 1) * width) }
                    sums.mean(at: y, into: result + y * width)
                }
            }
        }
    }

    /// Nearly a Gaussian blur.
    ///
    /// - Parameter deviation: The Gaussian's standard deviation, in places of the grid.
    package func blurred(deviation: Float) -> Grid {
        boxRadii(deviation: deviation).reduce(self) { $0.boxMean(radius: $1) }
    }
}

/// Where the pixels of one axis lie between the places of a coarser or finer one: half-pixel centres, clamped at the ends.
package struct LinearTaps {
    /// The place before.
    package let indices: [Int32]
    /// How far the pixel lies towards the next place, 0 to 1. At the last place 0.
    package let fractions: [Float]

    /// Lays all of one axis over all of another.
    package init(_ places: Int, over pixels: Int) {
        self.init(places, over: pixels) { (($0 + 0.5) * Double(places) / Double(pixels)) - 0.5 }
    }

    /// - Parameter position: The place, which may lie outside, for the centre of a pixel.
    init(_ places: Int, over pixels: Int, at position: (Double) -> Double) {
        var indices: [Int32] = []
        var fractions: [Float] = []
        for pixel in 0..<pixels {
            let place = min(max(position(Double(pixel)), 0), Double(places - 1))
            let index = min(Int(place), max(places - 2, 0))
            indices.append(Int32(index))
            fractions.append(places == 1 ? 0 : Float(place - Double(index)))
        }
        self.indices = indices
        self.fractions = fractions
    }
}

/// Reads a grid at the pixels of a picture of another size, a row at a time, by bilinear interpolation.
///
/// Shaders/include/bilinear.glsl does the same steps in the same order.
package final class GridSampler {
    private let grid: Grid<SIMD4<Float>>
    private let rows, columns: LinearTaps
    /// The grid's rows around the current one of the picture, mixed; the last value is there twice.
    private let row: UnsafeMutablePointer<SIMD4<Float>>
    private var currentRow = -1

    /// - Parameter size: Of the picture that the grid is laid over.
    package init(_ grid: Grid<SIMD4<Float>>, over size: PixelSize) {
        self.grid = grid
        rows = LinearTaps(grid.size.height, over: size.height)
        columns = LinearTaps(grid.size.width, over: size.width)
        row = .allocate(capacity: grid.size.width + 1)
    }

    deinit { row.deallocate() }

    /// Goes to a row of the picture.
    package func move(toRow y: Int) {
        guard y != currentRow else { return }
        currentRow = y
        let width = grid.size.width
        let top = Int(rows.indices[y])
        let bottom = min(top + 1, grid.size.height - 1)
        let fraction = rows.fractions[y]
        grid.values.withUnsafeBufferPointer { values in
            for x in 0..<width {
                let upper = values[top * width + x]
                row[x] = upper + (values[bottom * width + x] - upper) * fraction
            }
        }
        row[width] = row[width - 1]
    }

    /// The value at a column of that row.
    @inline(__always)
    package func value(at x: Int) -> SIMD4<Float> {
        let index = Int(columns.indices[x])
        return row[index] + (row[index + 1] - row[index]) * columns.fractions[x]
    }
}
