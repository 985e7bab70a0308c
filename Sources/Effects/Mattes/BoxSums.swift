import Imaging

/// What means are taken of: a number, or several at once.
protocol MeanValue {
    static var zero: Self { get }
    static func += (sum: inout Self, value: Self)
    static func -= (sum: inout Self, value: Self)
    static func * (sum: Self, factor: Float) -> Self
    static func / (sum: Self, divisor: Float) -> Self
}

extension Float: MeanValue {}
extension SIMD4: MeanValue where Scalar == Float {}

/// The sums of a few rows in each column, carried along from row to row, and the means of boxes that they give.
struct BoxSums<Value: MeanValue> {
    private let size: PixelSize
    private let radius: Int
    private var sums: [Value]

    /// - Parameters:
    ///   - size: Of what means are taken of.
    ///   - radius: Columns and rows around a place, at least 1.
    init(_ size: PixelSize, radius: Int) {
        self.size = size
        self.radius = radius
        sums = [Value](repeating: .zero, count: size.width)
    }

    /// Takes a row in.
    mutating func add(_ row: UnsafePointer<Value>) {
        sums.withUnsafeMutableBufferPointer { sums in
            for x in sums.indices { sums[x] += row[x] }
        }
    }

    /// Lets a row go.
    mutating func subtract(_ row: UnsafePointer<Value>) {
        sums.withUnsafeMutableBufferPointer { sums in
            for x in sums.indices { sums[x] -= row[x] }
        }
    }

    /// The means around a row, when the rows around it are in the sums and no others.
    func mean(at y: Int, into result: UnsafeMutablePointer<Value>) {
        let width = size.width
        let rows = min(y + radius, size.height - 1) - max(y - radius, 0) + 1
        sums.withUnsafeBufferPointer { sums in
            var sum = Value.zero
            for x in 0..<min(radius, width) { sum += sums[x] }
            let whole = 1 / Float((2 * radius + 1) * rows)
            for x in 0..<width {
                if x + radius < width { sum += sums[x + radius] }
                if x > radius { sum -= sums[x - radius - 1] }
                if x >= radius, x + radius < width {
                    result[x] = sum * whole
                } else {
                    let columns = min(x + radius, width - 1) - max(x - radius, 0) + 1
                    result[x] = sum / Float(columns * rows)
                }
            }
        }
    }
}

/// The radii of three means that one after the other are nearly a Gaussian blur; none where nothing is blurred.
///
/// Source: P. Kovesi, "Fast Almost-Gaussian Filtering", DICTA 2010.
///
/// - Parameter deviation: The Gaussian's standard deviation.
func boxRadii(deviation: Float) -> [Int] {
    guard deviation > 0 else { return [] }
    let ideal = (4 * deviation * deviation + 1).squareRoot()
    var lower = Int(ideal)
    if lower % 2 == 0 { lower -= 1 }
    let share = (12 * deviation * deviation - Float(3 * lower * lower + 12 * lower + 9)) / Float(-4 * lower - 4)
    let lowerCount = Int(share.rounded())
    return (0..<3).map { pass in ((pass < lowerCount ? lower : lower + 2) - 1) / 2 }
}
