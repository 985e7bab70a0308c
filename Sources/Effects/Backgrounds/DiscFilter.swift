import Imaging

/// The greatest value within a disc around each pixel.
struct DiscFilter {
    let size: PixelSize
    var values: [UInt8]

    /// Turns the greatest into the least.
    mutating func invert() { values = values.map { 255 - $0 } }

    /// Replaces each value by the greatest not farther than `radius`; between whole radii, by the mixture of the two.
    mutating func grow(by radius: Float) {
        let whole = Int(radius)
        let part = radius - Float(whole)
        let inner = greatest(within: whole)
        guard part > 0 else {
            values = inner
            return
        }
        let outer = greatest(within: whole + 1)
        let alpha = byte(fraction: part)
        values = zip(inner, outer).map { blend($1, over: $0, alpha: alpha) }
    }

    /// Rows of the disc one after the other: the greatest along a row grows with the row's half length, and counts as many rows up
    /// and down as the disc is high there.
    private func greatest(within radius: Int) -> [UInt8] {
        guard radius > 0 else { return values }
        let (width, height) = (size.width, size.height)
        var along = values
        var result = values
        var spare = values
        for halfLength in 0...radius {
            if halfLength > 0 {
                Self.widen(along, width, into: &spare)
                swap(&along, &spare)
            }
            for dy in 0...radius where Self.halfLength(dy, radius) == halfLength {
                Self.take(along, shifted: dy * width, into: &result)
                if dy > 0 { Self.take(along, shifted: -dy * width, into: &result) }
            }
        }
        precondition(result.count == width * height)
        return result
    }

    /// Half the length of the disc's row that is `dy` rows from its middle.
    private static func halfLength(_ dy: Int, _ radius: Int) -> Int {
        Int(Double(radius * radius - dy * dy).squareRoot())
    }

    /// The greatest of each value and its neighbours to the left and to the right.
    private static func widen(_ source: [UInt8], _ width: Int, into result: inout [UInt8]) {
        source.withUnsafeBufferPointer { source in
            result.withUnsafeMutableBufferPointer { result in
                for start in stride(from: 0, to: source.count, by: width) {
                    let last = start + width - 1
                    if width == 1 {
                        result[start] = source[start]
                        continue
                    }
                    result[start] = max(source[start], source[start + 1])
                    for index in start + 1..<max(last, start + 1) {
                        result[index] = max(source[index], max(source[index - 1], source[index + 1]))
                    }
                    result[last] = max(source[last], source[last - 1])
                }
            }
        }
    }

    /// Keeps the greater of each value and that of another place; what has no such place stays.
    private static func take(_ source: [UInt8], shifted offset: Int, into result: inout [UInt8]) {
        // A disc may reach farther than the picture.
        guard abs(offset) < source.count else { return }
        let range = max(0, -offset)..<min(source.count, source.count - offset)
        source.withUnsafeBufferPointer { source in
            result.withUnsafeMutableBufferPointer { result in
                for index in range { result[index] = max(result[index], source[index + offset]) }
            }
        }
    }
}
