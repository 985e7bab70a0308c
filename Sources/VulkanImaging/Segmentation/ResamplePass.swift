import Imaging

/// The pixels of a picture as steps through memory, so that a picture that is stored turned is read in its upright order.
struct PixelSteps: Hashable, Sendable {
    /// The upright picture's top left pixel.
    var first: Int
    /// From a pixel to its neighbours to the right and below.
    var right, down: Int

    /// The steps of a picture of `size`, as stored, that has to be turned by `orientation`.
    init(_ size: PixelSize, _ orientation: Orientation = .up) {
        let column = orientation.flipsColumns ? -1 : 1
        let row = orientation.flipsRows ? -size.width : size.width
        first =
            (orientation.flipsRows ? (size.height - 1) * size.width : 0)
            + (orientation.flipsColumns ? size.width - 1 : 0)
        (right, down) = orientation.swapsSides ? (row, column) : (column, row)
    }

    /// The steps of a part of the picture, in upright columns and rows.
    func cropped(to part: PixelRect) -> PixelSteps {
        var steps = self
        steps.first += part.x * right + part.y * down
        return steps
    }
}

/// One pass of a picture's resize: what Shaders/resize_picture.comp does in one dispatch.
struct ResamplePass: Sendable {
    /// Along rows, or down columns.
    enum Direction: Sendable { case rows, columns }

    var direction: Direction
    /// Size of what the pass makes.
    var size: PixelSize
    /// What it reads.
    var source: PixelSteps
    var taps: ResampleTaps

    /// The passes that bring part of a stored picture to a size, in Pillow's order; one that changes nothing is left out, unless it
    /// is the only one. (See `Resizer`.)
    static func passes(for geometry: FitGeometry, stored: PixelSize, orientation: Orientation) -> [ResamplePass] {
        let (source, target) = (geometry.source.size, geometry.target.size)
        let picture = PixelSteps(stored, orientation).cropped(to: geometry.source)
        let alongRows = ResampleTaps(from: source.width, to: target.width)
        let downColumns = ResampleTaps(from: source.height, to: target.height)
        func pass(_ direction: Direction, to size: PixelSize, _ source: PixelSteps) -> ResamplePass {
            ResamplePass(
                direction: direction, size: size, source: source, taps: direction == .rows ? alongRows : downColumns)
        }
        if source.width == target.width { return [pass(.columns, to: target, picture)] }
        if source.height == target.height { return [pass(.rows, to: target, picture)] }
        let isVerticalFirst = Resizer.isVerticalFirst(from: source, to: target)
        let between =
            isVerticalFirst
            ? PixelSize(width: source.width, height: target.height)
            : PixelSize(width: target.width, height: source.height)
        return [
            pass(isVerticalFirst ? .columns : .rows, to: between, picture),
            pass(isVerticalFirst ? .rows : .columns, to: target, PixelSteps(between)),
        ]
    }
}

extension ResampleTaps {
    /// The taps as the shader reads them: starts, counts, then the weights of each tap.
    var words: [UInt32] {
        let targets = starts.indices
        return starts.map(UInt32.init) + counts.map(UInt32.init)
            + (0..<stride).flatMap { tap in targets.map { UInt32(weights[$0 * stride + tap]) } }
    }
}
