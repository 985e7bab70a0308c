import CPUBackend
import Imaging
import ModelGraph

/// The map of a subject that tiles give: the picture at the resolution at which the network sees it, tile beside tile.
final class TiledSubject {
    private let request: MaskRequest
    private let picture: PixelSize
    private let size: PixelSize
    private let scoreSize: PixelSize
    private let blender: TileBlender
    private let margins: FloatBuffer
    private let classes: UnsafeMutableBufferPointer<UInt8>

    init(_ request: MaskRequest, _ grid: TileGrid, _ backend: CPUBackend) {
        self.request = request
        let output = request.output
        func places(_ axis: TileAxis, _ output: Int) -> Int {
            max(1, (2 * axis.length * output + axis.tile) / (2 * axis.tile))
        }
        picture = PixelSize(width: grid.columns.length, height: grid.rows.length)
        size = PixelSize(
            width: places(grid.columns, output.size.width), height: places(grid.rows, output.size.height))
        scoreSize = PixelSize(
            width: places(grid.columns, output.scoreSize.width), height: places(grid.rows, output.scoreSize.height))
        blender = TileBlender(
            rows: grid.rows, columns: grid.columns, target: Extent(height: size.height, width: size.width),
            output: Shape(height: output.size.height, width: output.size.width, channels: output.channels),
            outputsLogits: output.isLogits, backend: backend)
        margins = FloatBuffer(count: size.pixelCount)
        classes = .allocate(capacity: size.pixelCount)
        classes.initialize(repeating: 0)
    }

    deinit { classes.deallocate() }

    /// Takes up a row or column of tiles.
    func blend(_ index: Int, isColumn: Bool, of tiles: TileScores) {
        let isSubject = request.isSubject
        let isLogits = request.output.isLogits
        let isSingle = request.output.channels == 1
        var destination = BlendOutputs()
        destination.reader = { [margins = margins.mutableValues, classes] pixel, count, values, stride in
            for x in 0..<count {
                let margin = SubjectMargin(
                    values + x * stride, isSubject: isSubject, isSingle: isSingle, isLogits: isLogits)
                margins[pixel + x] = margin.value
                classes[pixel + x] = margin.likeliest
            }
        }
        blender.blend(index, isColumn: isColumn, of: tiles, into: destination)
    }

    /// What all tiles together give: tiles leave no place out.
    var map: SubjectMap {
        SubjectMap(
            size, margins: Array(margins.values), classes: Array(classes),
            geometry: FitGeometry(.stretch, picture: picture, network: size), scoreSize: scoreSize,
            keepsBackground: false)
    }
}
