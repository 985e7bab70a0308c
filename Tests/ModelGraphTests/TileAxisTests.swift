import ModelGraph
import Testing

@Suite("Tiles along a side")
struct TileAxisTests {
    @Test(
        "What is at most a quarter longer than a tile is one tile",
        arguments: [(500, 500), (500, 400), (3, 500), (1, 1)])
    func single(length: Int, tile: Int) {
        let axis = TileAxis(length: length, tile: tile)
        #expect(axis.starts == [0] && axis.tile == length)
        let spans = axis.spans(target: length, output: 9)
        #expect(spans.map(\.range) == [0..<length] && spans[0].weights == [Float](repeating: 1, count: length))
        #expect(spans[0].taps == ResizeConvention.halfPixel.taps(from: 9, to: length))
    }

    @Test("Tiles cover everything evenly, share a quarter at least, and are as few as can be")
    func covering() {
        for length in [2, 3, 10, 257, 640, 1001, 4032] {
            for tile in Set([1, 2, 3, 7, 100, 257, length / 2, length * 3 / 4, length - 1])
            where (1..<length).contains(tile) {
                let axis = TileAxis(length: length, tile: tile)
                guard axis.starts.count > 1 else { continue }
                let case_ = "\(length) by \(tile): \(axis.starts.prefix(9))"
                #expect(axis.starts[0] == 0 && axis.starts[axis.starts.count - 1] == length - tile, "\(case_)")
                let steps = zip(axis.starts, axis.starts.dropFirst()).map { $1 - $0 }
                #expect(steps.max()! - steps.min()! <= 1, "\(case_)")
                #expect(steps.max()! <= max(1, tile * 3 / 4), "\(case_)")
                #expect((axis.starts.count - 2) * max(1, tile * 3 / 4) < length - tile, "\(case_)")
            }
        }
    }

    @Test("Weights add up to 1 everywhere, change smoothly, and no seam is at a tile's edge")
    func weights() {
        for (length, tile) in [(640, 480), (1000, 300), (701, 400), (500, 399), (97, 31), (5, 2)] {
            let axis = TileAxis(length: length, tile: tile)
            for target in [length, length / 2, 3 * length + 1] {
                var sums = [Float](repeating: 0, count: target)
                for (start, span) in zip(axis.starts, axis.spans(target: target, output: 33)) {
                    #expect(span.weights.count == span.range.count && span.weights.allSatisfy { $0 >= 0 })
                    for (index, weight) in zip(span.range, span.weights) { sums[index] += weight }
                    guard tile > 100 else { continue }
                    let largest = zip(span.weights, span.weights.dropFirst()).map { abs($1 - $0) }.max() ?? 0
                    #expect(largest < 0.06, "\(length) by \(tile)")
                    if start > 0 { #expect(span.weights[0] < 0.001) }
                    if start + tile < length { #expect(span.weights[span.weights.count - 1] < 0.001) }
                }
                #expect(sums.allSatisfy { abs($0 - 1) < 1e-6 })
            }
        }
    }

    @Test(
        "A row or column of a mask is where it is in the picture, whatever the mask's size", arguments: [100, 257, 37])
    func positions(target: Int) {
        let axis = TileAxis(length: 100, tile: 40)
        for (start, span) in zip(axis.starts, axis.spans(target: target, output: 20)) {
            for (index, tap) in zip(span.range, span.taps) {
                let inPicture = (Double(index) + 0.5) * 100 / Double(target)
                #expect(inPicture >= Double(start) && inPicture < Double(start + 40))
                let position = (inPicture - Double(start)) / 2 - 0.5
                let found = Double(tap.first) + tap.share
                #expect(abs(found - min(max(position, 0), 19)) < 1e-9)
            }
        }
    }
}
