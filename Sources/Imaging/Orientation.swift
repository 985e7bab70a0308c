/// How the stored rows and columns of a picture lie relative to the upright picture: the EXIF tag 0x0112.
///
/// Each case says where the stored picture's first row and first column belong in the upright one.
/// Source: CIPA DC-008 (Exif 2.32), 4.6.4 A, table of Orientation.
public enum Orientation: Int, CaseIterable, Hashable, Sendable {
    /// Row 0 is the top, column 0 the left side: nothing to do.
    case up = 1
    /// Top, right side: mirrored left to right.
    case upMirrored = 2
    /// Bottom, right side: turned by 180 degrees.
    case down = 3
    /// Bottom, left side: mirrored top to bottom.
    case downMirrored = 4
    /// Left side, top: mirrored along the main diagonal.
    case leftMirrored = 5
    /// Right side, top: the picture has to be turned 90 degrees clockwise.
    case right = 6
    /// Right side, bottom: mirrored along the other diagonal.
    case rightMirrored = 7
    /// Left side, bottom: the picture has to be turned 90 degrees counter-clockwise.
    case left = 8

    /// Whether width and height change places.
    public var swapsSides: Bool { rawValue >= 5 }

    /// Whether the stored row that belongs to an upright pixel counts from the bottom.
    package var flipsRows: Bool { self == .down || self == .downMirrored || self == .right || self == .rightMirrored }

    /// Whether the stored column that belongs to an upright pixel counts from the right.
    package var flipsColumns: Bool { self == .upMirrored || self == .down || self == .rightMirrored || self == .left }
}

extension PixelSize {
    /// The size after turning upright.
    public func oriented(_ orientation: Orientation) -> PixelSize {
        orientation.swapsSides ? PixelSize(width: height, height: width) : self
    }
}
