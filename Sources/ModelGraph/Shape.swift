/// The extent of one picture's activation: height x width x channels.
///
/// The batch is not part of a shape: a graph describes what happens to one picture.
package struct Shape: Hashable, Sendable, CustomStringConvertible {
    package var height: Int
    package var width: Int
    /// Values at each pixel.
    package var channels: Int

    /// Creates a shape; the caller vouches that all three are positive.
    package init(height: Int, width: Int, channels: Int) {
        self.height = height
        self.width = width
        self.channels = channels
    }

    package var pixelCount: Int { height * width }

    package var elementCount: Int { height * width * channels }

    package var extent: Extent { Extent(height: height, width: width) }

    /// As in `33x33x480`.
    package var description: String { "\(height)x\(width)x\(channels)" }
}

/// Rows and columns: the size of a kernel, a stride, a dilation or a map.
package struct Extent: Hashable, Sendable, CustomStringConvertible {
    package var height: Int
    package var width: Int

    package init(height: Int, width: Int) {
        self.height = height
        self.width = width
    }

    package init(_ side: Int) { self.init(height: side, width: side) }

    /// As in `3x3`.
    package var description: String { "\(height)x\(width)" }
}

/// Rows and columns of zeros around a map, as a convolution sees it.
package struct Padding: Hashable, Sendable, CustomStringConvertible {
    /// Rows above, columns left, rows below, columns right.
    package var top, left, bottom, right: Int

    /// Creates a padding in the order of the model file: top, left, bottom, right.
    package init(top: Int, left: Int, bottom: Int, right: Int) {
        self.top = top
        self.left = left
        self.bottom = bottom
        self.right = right
    }

    /// The same number of rows and columns on every side.
    package init(_ all: Int) { self.init(top: all, left: all, bottom: all, right: all) }

    /// As in `1,1,1,1`.
    package var description: String { "\(top),\(left),\(bottom),\(right)" }
}
