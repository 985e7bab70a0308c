import CPUBackend
import Foundation
import ModelGraph
import TestSupport
import Testing

@Suite("Blending the scores of tiles")
struct TileBlenderTests {
    /// The whole picture's scores by the definition, in float64.
    private func reference(
        _ rows: TileAxis, _ columns: TileAxis, _ target: Extent, _ shape: Shape, _ tiles: [[[Float]]]
    ) -> [Double] {
        var sums = [Double](repeating: 0, count: target.height * target.width * shape.channels)
        for (row, down) in rows.spans(target: target.height, output: shape.height).enumerated() {
            for (column, across) in columns.spans(target: target.width, output: shape.width).enumerated() {
                let scores = tiles[row][column]
                for (y, (vertical, rowWeight)) in zip(down.range, zip(down.taps, down.weights)) {
                    for (x, (horizontal, columnWeight)) in zip(across.range, zip(across.taps, across.weights)) {
                        for channel in 0..<shape.channels {
                            func at(_ y: Int, _ x: Int) -> Double {
                                Double(scores[(y * shape.width + x) * shape.channels + channel])
                            }
                            func along(_ y: Int) -> Double {
                                at(y, horizontal.first) * (1 - horizontal.share)
                                    + at(y, horizontal.second) * horizontal.share
                            }
                            let value =
                                along(vertical.first) * (1 - vertical.share) + along(vertical.second) * vertical.share
                            sums[(y * target.width + x) * shape.channels + channel] +=
                                Double(rowWeight) * Double(columnWeight) * value
                        }
                    }
                }
            }
        }
        return sums
    }

    private static let sets = InstructionSet.available

    @Test(
        "Scores, categories and confidences are those of the definition", arguments: sets,
        [(1, 41, 23), (2, 41, 23), (3, 13, 60), (21, 41, 23)])
    func definition(set: InstructionSet, size: (channels: Int, height: Int, width: Int)) throws {
        let channels = size.channels
        let target = Extent(height: size.height, width: size.width)
        var random = SeededGenerator(seed: UInt64(channels))
        let rows = TileAxis(length: 41, tile: 18)
        let columns = TileAxis(length: 23, tile: 11)
        let shape = Shape(height: 9, width: 7, channels: channels)
        let tiles = rows.starts.map { _ in
            columns.starts.map { _ in (0..<shape.elementCount).map { _ in Float.random(in: -2...2, using: &random) } }
        }
        let expected = reference(rows, columns, target, shape, tiles)
        let backend = try CPUBackend(threads: 3, instructionSet: set)
        let blender = TileBlender(
            rows: rows, columns: columns, target: target, output: shape, outputsLogits: true, backend: backend)
        var kept = TileScores()
        let isColumn = channels == 3
        let count = target.height * target.width
        var scores = [Float](repeating: .nan, count: expected.count)
        var categories = [UInt8](repeating: 99, count: count)
        var first = [Float](repeating: .nan, count: count)
        var last = first
        let classes = max(2, channels)
        scores.withUnsafeMutableBufferPointer { scores in
            categories.withUnsafeMutableBufferPointer { categories in
                first.withUnsafeMutableBufferPointer { first in
                    last.withUnsafeMutableBufferPointer { last in
                        var destination = BlendOutputs()
                        destination.scores = scores
                        destination.categories = categories
                        destination.confidences = [(0, first), (classes - 1, last)]
                        // As tiles come.
                        let (long, short) = isColumn ? (columns, rows) : (rows, columns)
                        for index in long.starts.indices {
                            for other in short.starts.indices {
                                let (row, column) = isColumn ? (other, index) : (index, other)
                                kept[row, column] = tiles[row][column]
                            }
                            blender.blend(index, isColumn: isColumn, of: kept, into: destination)
                            kept.forget(upTo: index, isColumn: isColumn, of: long)
                        }
                        #expect(kept.count == 0)
                    }
                }
            }
        }
        for pixel in 0..<count {
            let values = Array(expected[pixel * channels..<(pixel + 1) * channels])
            for (channel, value) in values.enumerated() {
                #expect(abs(Double(scores[pixel * channels + channel]) - value) < 1e-5)
            }
            let logits = channels == 1 ? [0, values[0]] : values
            let best = logits.max() ?? 0
            #expect(logits[Int(categories[pixel])] > best - 1e-5)
            let exponentials = logits.map { exp($0 - best) }
            let sum = exponentials.reduce(0, +)
            #expect(abs(Double(first[pixel]) - exponentials[0] / sum) < 1e-5)
            #expect(abs(Double(last[pixel]) - exponentials[classes - 1] / sum) < 1e-5)
        }
    }

    @Test("Probabilities stay what they are, and a subject is where one half is reached")
    func probabilities() throws {
        let axis = TileAxis(length: 8, tile: 8)
        let blender = TileBlender(
            rows: axis, columns: axis, target: Extent(height: 8, width: 8),
            output: Shape(height: 8, width: 8, channels: 1), outputsLogits: false, backend: try CPUBackend(threads: 1))
        let values = (0..<64).map { Float($0) / 63 }
        var tiles = TileScores()
        tiles[0, 0] = values
        var categories = [UInt8](repeating: 9, count: 64)
        var subject = [Float](repeating: 9, count: 64)
        categories.withUnsafeMutableBufferPointer { categories in
            subject.withUnsafeMutableBufferPointer { subject in
                var destination = BlendOutputs()
                destination.categories = categories
                destination.confidences = [(1, subject)]
                blender.blend(0, isColumn: false, of: tiles, into: destination)
            }
        }
        #expect(subject == values)
        #expect(categories == values.map { $0 >= 0.5 ? 1 : 0 })
    }

    @Test("Of equal scores the first class counts, as it does without tiles")
    func ties() throws {
        let axis = TileAxis(length: 4, tile: 4)
        let blender = TileBlender(
            rows: axis, columns: axis, target: Extent(height: 4, width: 4),
            output: Shape(height: 4, width: 4, channels: 3), outputsLogits: true, backend: try CPUBackend(threads: 1))
        var tiles = TileScores()
        let rows: [(scores: [Float], category: UInt8)] = [
            ([1, 1, 1], 0), ([0, 2, 2], 1), ([3, 1, 3], 0), ([0, 0, 1], 2),
        ]
        tiles[0, 0] = rows.flatMap { row in (0..<4).flatMap { _ in row.scores } }
        var categories = [UInt8](repeating: 9, count: 16)
        categories.withUnsafeMutableBufferPointer { categories in
            var destination = BlendOutputs()
            destination.categories = categories
            blender.blend(0, isColumn: false, of: tiles, into: destination)
        }
        #expect(categories == rows.flatMap { [UInt8](repeating: $0.category, count: 4) })
    }

    @Test("Tiles that nothing needs any more are forgotten")
    func forgetting() throws {
        let axis = TileAxis(length: 100, tile: 40)
        var tiles = TileScores()
        for row in axis.starts.indices { for column in axis.starts.indices { tiles[row, column] = [1] } }
        #expect(axis.starts == [0, 30, 60] && tiles.count == 9)
        tiles.forget(upTo: 0, isColumn: false, of: axis)
        #expect(tiles.count == 9)
        tiles.forget(upTo: 1, isColumn: false, of: axis)
        #expect(tiles.count == 6)
        tiles.forget(upTo: 2, isColumn: true, of: axis)
        #expect(tiles.count == 0)
    }
}
