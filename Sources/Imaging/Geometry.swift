/// A part of a picture in whole pixels.
package struct PixelRect: Hashable, Sendable, CustomStringConvertible {
    /// Column of the left side and row of the top.
    package var x, y: Int
    /// Columns and rows.
    package var width, height: Int

    /// Creates a rectangle from its top left corner and its size.
    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The whole of a picture.
    package init(_ size: PixelSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }

    /// Columns and rows.
    package var size: PixelSize { PixelSize(width: width, height: height) }

    package var rows: Range<Int> { y..<y + height }
    package var columns: Range<Int> { x..<x + width }

    /// As in `640x480+0+20`: size, then left and top.
    package var description: String { "\(width)x\(height)+\(x)+\(y)" }
}
