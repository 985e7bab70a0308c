import Imaging
import Glibc

/// How surely each place of the network's output belongs to the subject.
///
/// The subject is one or several classes taken together. What edges are made of: coarse, but it says which way to decide where
/// the picture itself is ambiguous.
package struct SubjectMap: Sendable {
    /// Columns and rows.
    package let size: PixelSize
    /// 0 to 1 at each place; 0.5 where the likeliest class of the subject is as likely as the likeliest other.
    package var confidences: [Float]
    /// The likeliest class of the subject at each place.
    package let classes: [UInt8]
    /// Which part of the map shows which part of the picture.
    package let geometry: FitGeometry
    /// Pixels of the picture from one of the network's own scores to the next, before its last resize.
    package let cell: Float
    /// The confidence where the network has not looked: that is background, and 1 where background belongs to the subject.
    package let unseenConfidence: Float

    /// Creates a map.
    package init(
        size: PixelSize, confidences: [Float], classes: [UInt8], geometry: FitGeometry, cell: Float,
        unseenConfidence: Float = 0
    ) {
        precondition(confidences.count == size.pixelCount && classes.count == size.pixelCount, "a map of another size")
        self.size = size
        self.confidences = confidences
        self.classes = classes
        self.geometry = geometry
        self.cell = cell
        self.unseenConfidence = unseenConfidence
    }

    /// How much steeper than the scores say the confidences go from one side to the other: the network is less sure at an edge
    /// than its answer is right, as its places are coarse. Measured: with 3 edges lie best.
    package static let gain: Float = 3

    /// The confidence that a difference of scores means.
    ///
    /// - Parameter margin: Largest logit of the subject's classes less the largest of the others'. Not a number: background, so
    ///   that one such place does not spread over the picture and, by smoothing, over all later ones.
    @inline(__always)
    package static func confidence(ofMargin margin: Float) -> Float {
        // `max` with the constant on the left gives the constant where the margin is not a number.
        1 / (1 + exp(-min(max(-40, gain * margin), 40)))
    }

    /// The confidences over a picture, at a size of choice: by bilinear interpolation, and `unseenConfidence` where the network has not
    /// looked.
    func sampled(at target: PixelSize) -> Grid<Float> {
        let columns = taps(\.width, \.x, target.width)
        let rows = taps(\.height, \.y, target.height)
        let seen = seenPart(at: target)
        return Grid(target) { result in
            confidences.withUnsafeBufferPointer { values in
                for y in 0..<target.height {
                    let top = Int(rows.indices[y]) * size.width
                    let bottom = min(Int(rows.indices[y]) + 1, size.height - 1) * size.width
                    let down = rows.fractions[y]
                    for x in 0..<target.width {
                        guard seen.rows.contains(y), seen.columns.contains(x) else {
                            result[y * target.width + x] = unseenConfidence
                            continue
                        }
                        let left = Int(columns.indices[x])
                        let right = min(left + 1, size.width - 1)
                        let across = columns.fractions[x]
                        let upper = values[top + left] + (values[top + right] - values[top + left]) * across
                        let lower = values[bottom + left] + (values[bottom + right] - values[bottom + left]) * across
                        result[y * target.width + x] = upper + (lower - upper) * down
                    }
                }
            }
        }
    }

    /// The subject's likeliest class over the picture, from the nearest place.
    func sampledClasses(at target: PixelSize) -> Grid<UInt8> {
        let columns = taps(\.width, \.x, target.width)
        let rows = taps(\.height, \.y, target.height)
        return Grid(target) { result in
            for y in 0..<target.height {
                let row = Int(rows.indices[y]) + (rows.fractions[y] >= 0.5 ? 1 : 0)
                for x in 0..<target.width {
                    let column = Int(columns.indices[x]) + (columns.fractions[x] >= 0.5 ? 1 : 0)
                    result[y * target.width + x] = classes[row * size.width + column]
                }
            }
        }
    }

    private func taps(
        _ length: KeyPath<PixelSize, Int>, _ start: KeyPath<PixelRect, Int>, _ pixels: Int
    ) -> LinearTaps {
        let picture = Double(geometry.picture[keyPath: length])
        let places = Double(size[keyPath: length]) / Double(geometry.network[keyPath: length])
        let (source, target) = (geometry.source, geometry.target)
        let scale =
            Double(target.size[keyPath: length]) / Double(source.size[keyPath: length]) * places
        return LinearTaps(size[keyPath: length], over: pixels) { pixel in
            let inPicture = (pixel + 0.5) * picture / Double(pixels) - Double(source[keyPath: start])
            return inPicture * scale + Double(target[keyPath: start]) * places - 0.5
        }
    }

    /// The pixels of a picture of size `target` whose centres the network has looked at.
    private func seenPart(at target: PixelSize) -> (rows: Range<Int>, columns: Range<Int>) {
        func range(_ start: Int, _ length: Int, of picture: Int, _ pixels: Int) -> Range<Int> {
            let scale = Double(pixels) / Double(picture)
            let first = Int((Double(start) * scale - 0.5).rounded(.up))
            let end = Int((Double(start + length) * scale - 0.5).rounded(.up))
            return max(0, first)..<min(pixels, max(end, first + 1))
        }
        let source = geometry.source
        return (
            range(source.y, source.height, of: geometry.picture.height, target.height),
            range(source.x, source.width, of: geometry.picture.width, target.width)
        )
    }
}
