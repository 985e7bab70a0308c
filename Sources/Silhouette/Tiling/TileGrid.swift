import Imaging
import ModelGraph

/// How a picture is covered by tiles: overlapping parts of one size, in the proportions of a network's input.
///
/// A tile is as large as the picture allows, so that a wide picture gets a row of tiles of its own height; but no more than
/// `largestReduction` times the network's input, so that a large picture gets several rows. A picture of moderate size whose
/// proportions are nearly the network's is one tile.
package struct TileGrid: Hashable {
    /// The rows of tiles.
    package let rows: TileAxis
    /// The columns of tiles.
    package let columns: TileAxis

    /// Tiles of one picture.
    package static let tileLimit = 48
    /// How often a tile's side may hold the network's, where nobody says how large tiles are to be.
    private static let largestReduction = 8.0

    /// Places tiles.
    ///
    /// - Parameters:
    ///   - network: Size of the network's input.
    ///   - side: The shorter side of a tile, in pixels of the picture. Nil: as above, and larger where there would be too many.
    /// - Throws: `tooManyTiles`, where `side` asks for that.
    package init(picture: PixelSize, network: PixelSize, side: Int?) throws(ImageSegmenterError) {
        let (width, height) = (Double(network.width), Double(network.height))
        var scale =
            side.map { Double($0) / min(width, height) }
            ?? min(Double(picture.width) / width, Double(picture.height) / height, Self.largestReduction)
        while true {
            let across = Self.length(width * scale, in: picture.width)
            let down = Self.length(height * scale, in: picture.height)
            let (count, overflow) = TileAxis.count(length: picture.width, tile: across)
                .multipliedReportingOverflow(by: TileAxis.count(length: picture.height, tile: down))
            if !overflow, count <= Self.tileLimit {
                columns = TileAxis(length: picture.width, tile: across)
                rows = TileAxis(length: picture.height, tile: down)
                return
            }
            if let side {
                throw .tooManyTiles(width: picture.width, height: picture.height, tileSide: side, limit: Self.tileLimit)
            }
            scale *= 1.05
        }
    }

    private static func length(_ wanted: Double, in picture: Int) -> Int {
        max(1, Int(min(wanted.rounded(), Double(picture))))
    }

    /// Whether the picture is one tile.
    var isSingle: Bool { rows.starts.count == 1 && columns.starts.count == 1 }

    /// Throws `resultTooLarge` where the scores that are kept at a time take too much memory.
    func check(_ output: ModelOutput) throws(ImageSegmenterError) {
        let counts = (rows.starts.count, columns.starts.count)
        // No place is covered by more than three tiles of a row or column of them.
        let kept = min(counts.0, counts.1) * min(max(counts.0, counts.1), 3)
        let planes = kept * output.channels
        let byteCount = output.size.pixelCount * planes * MemoryLayout<Float>.size
        guard byteCount <= ImageSegmenter.resultByteLimit else {
            throw .resultTooLarge(
                width: output.size.width, height: output.size.height, channels: planes, byteCount: byteCount)
        }
    }

    /// The part of the picture that a tile shows.
    func rect(row: Int, column: Int) -> PixelRect {
        PixelRect(x: columns.starts[column], y: rows.starts[row], width: columns.tile, height: rows.tile)
    }
}
