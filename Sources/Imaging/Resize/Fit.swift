/// How a picture is brought to the network's size.
public enum Fit: String, CaseIterable, Hashable, Sendable {
    /// The whole picture over the whole input; the aspect ratio is not kept.
    case stretch
    /// The whole picture in the middle of the input, aspect ratio kept, bars around it.
    case letterbox
    /// The middle of the picture over the whole input, aspect ratio kept, the rest left out.
    case crop
    /// Overlapping parts of the picture, each over the whole input in a run of its own, aspect ratio kept; what they give is
    /// blended. For wide and for large pictures, whose small things no single input would show.
    case tile
}

/// Where a picture lies in the network's input.
///
///     picture                     network input
///     +---------------+           +---------+
///     |  +---------+  |           | (bars)  |
///     |  | source  |  |  resize   +---------+
///     |  +---------+  | --------> | target  |
///     +---------------+           +---------+
///
/// Both rectangles are in whole pixels. `stretch` has the whole of both, `letterbox` the whole picture, `crop` the
/// whole input. A single tile is stretched.
package struct FitGeometry: Hashable, Sendable {
    /// Size of the picture, upright.
    package let picture: PixelSize
    /// Size of the network's input.
    package let network: PixelSize
    /// The part of the picture that the network sees.
    package let source: PixelRect
    /// The part of the network's input that shows it.
    package let target: PixelRect

    /// Places a picture in a network's input; all sides are at least 1.
    ///
    /// Lengths that do not come out whole are rounded to the nearest, half up, and are at least 1; an odd rest goes
    /// right or below.
    package init(_ fit: Fit, picture: PixelSize, network: PixelSize) {
        self.picture = picture
        self.network = network
        // Positive where the picture is wider in proportion than the input.
        let excess = picture.width * network.height - network.width * picture.height
        var source = picture
        var target = network
        switch fit {
        case .stretch, .tile: break
        case .letterbox where excess > 0:
            target.height = FitGeometry.scaled(picture.height, network.width, picture.width)
        case .letterbox:
            target.width = FitGeometry.scaled(picture.width, network.height, picture.height)
        case .crop where excess > 0:
            source.width = FitGeometry.scaled(network.width, picture.height, network.height)
        case .crop:
            source.height = FitGeometry.scaled(network.height, picture.width, network.width)
        }
        self.source = FitGeometry.centered(source, in: picture)
        self.target = FitGeometry.centered(target, in: network)
    }

    /// The network's column and row, in pixel centres, for a column and row of the picture.
    ///
    /// Pixel centres: 0 is the middle of the first pixel, so the left edge of the picture is -0.5. Positions outside
    /// `target` were not seen by the network.
    package func networkPosition(x: Double, y: Double) -> (x: Double, y: Double) {
        (
            FitGeometry.map(x, from: source.x, source.width, to: target.x, target.width),
            FitGeometry.map(y, from: source.y, source.height, to: target.y, target.height)
        )
    }

    /// The picture's column and row, in pixel centres, for a column and row of the network's input.
    package func picturePosition(x: Double, y: Double) -> (x: Double, y: Double) {
        (
            FitGeometry.map(x, from: target.x, target.width, to: source.x, source.width),
            FitGeometry.map(y, from: target.y, target.height, to: source.y, source.height)
        )
    }

    private static func map(_ at: Double, from start: Int, _ length: Int, to other: Int, _ otherLength: Int) -> Double {
        (at + 0.5 - Double(start)) * Double(otherLength) / Double(length) + Double(other) - 0.5
    }

    /// `length * numerator / denominator`, to the nearest, at least 1.
    private static func scaled(_ length: Int, _ numerator: Int, _ denominator: Int) -> Int {
        max(1, (2 * length * numerator + denominator) / (2 * denominator))
    }

    private static func centered(_ inner: PixelSize, in outer: PixelSize) -> PixelRect {
        PixelRect(
            x: (outer.width - inner.width) / 2, y: (outer.height - inner.height) / 2, width: inner.width,
            height: inner.height)
    }
}
