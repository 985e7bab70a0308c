import Imaging

/// The rows of a plane of numbers, from the top, one after the other: a chain of filters holds a few rows of each and no plane.
final class PlaneRows {
    /// Columns and rows.
    let size: PixelSize
    private let fill: (_ y: Int, _ row: UnsafeMutablePointer<Float>) -> Void
    private var count = 0

    /// - Parameter fill: Writes row `y`. It is called once for each row, in their order.
    init(_ size: PixelSize, _ fill: @escaping (_ y: Int, _ row: UnsafeMutablePointer<Float>) -> Void) {
        self.size = size
        self.fill = fill
    }

    /// Bytes as numbers from 0 to 1.
    ///
    /// - Parameter bytes: Row by row without padding; each row is read when its turn comes.
    convenience init(_ size: PixelSize, bytes: UnsafePointer<UInt8>) {
        self.init(size) { y, row in
            let from = bytes + y * size.width
            for x in 0..<size.width { row[x] = Float(from[x]) / 255 }
        }
    }

    /// Writes the next row.
    func next(into row: UnsafeMutablePointer<Float>) {
        precondition(count < size.height, "rows behind the last one")
        fill(count, row)
        count += 1
    }

    /// The mean of the values not farther than `radius` columns and rows away: what `Grid.boxMean` gives of a grid.
    func boxMean(radius: Int) -> PlaneRows {
        guard radius > 0 else { return self }
        let (width, height) = (size.width, size.height)
        // From the row that leaves the sums to the one that enters.
        let recent = RecentRows(width: width, count: 2 * radius + 2)
        var sums = BoxSums<Float>(size, radius: radius)
        return PlaneRows(size) { [self] y, row in
            func enter(_ y: Int) {
                next(into: recent[y])
                sums.add(recent[y])
            }
            if y == 0 { for y in 0..<min(radius, height) { enter(y) } }
            if y + radius < height { enter(y + radius) }
            if y > radius { sums.subtract(recent[y - radius - 1]) }
            sums.mean(at: y, into: row)
        }
    }

    /// Nearly a Gaussian blur: what `Grid.blurred` gives of a grid.
    ///
    /// - Parameter deviation: The Gaussian's standard deviation, in places of the plane.
    func blurred(deviation: Float) -> PlaneRows {
        boxRadii(deviation: deviation).reduce(self) { $0.boxMean(radius: $1) }
    }

    /// Reads the plane at every pixel of a picture that it is laid over, by bilinear interpolation, in the steps of `GridSampler`.
    ///
    /// - Parameter body: Takes the index of a pixel and its value, row by row. In a picture of the plane's size the pixel's own row
    ///   has been read by then: what it was made from may be overwritten.
    @inline(__always)
    func forEachPixel(of picture: PixelSize, _ body: (Int, Float) -> Void) {
        let (rows, columns) = (
            LinearTaps(size.height, over: picture.height), LinearTaps(size.width, over: picture.width)
        )
        let recent = RecentRows(width: size.width, count: 2)
        let mixed = UnsafeMutablePointer<Float>.allocate(capacity: size.width + 1)
        defer { mixed.deallocate() }
        for y in 0..<picture.height {
            let top = Int(rows.indices[y])
            let bottom = min(top + 1, size.height - 1)
            while count <= bottom { next(into: recent[count]) }
            let (upper, lower) = (recent[top], recent[bottom])
            let down = rows.fractions[y]
            for x in 0..<size.width { mixed[x] = upper[x] + (lower[x] - upper[x]) * down }
            mixed[size.width] = mixed[size.width - 1]
            for x in 0..<picture.width {
                let index = Int(columns.indices[x])
                body(
                    y * picture.width + x, mixed[index] + (mixed[index + 1] - mixed[index]) * columns.fractions[x])
            }
        }
    }
}

/// The last few rows of a plane.
private final class RecentRows {
    private let width, count: Int
    private let values: UnsafeMutablePointer<Float>

    init(width: Int, count: Int) {
        (self.width, self.count) = (width, count)
        values = .allocate(capacity: width * count)
    }

    deinit { values.deallocate() }

    /// Where row `y` lies, if it is one of the last.
    subscript(y: Int) -> UnsafeMutablePointer<Float> { values + y % count * width }
}
