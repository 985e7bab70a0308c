import CPUKernels
import ModelGraph

/// The scores of tiles, as long as somebody needs them.
package struct TileScores {
    private var scores: [Position: [Float]] = [:]

    private struct Position: Hashable {
        var row, column: Int
    }

    package init() {}

    /// Tiles whose scores are kept.
    package var count: Int { scores.count }

    /// The scores of a tile: height x width x channels, the model's output for it.
    package subscript(row: Int, column: Int) -> [Float] {
        get {
            guard let values = scores[Position(row: row, column: column)] else {
                preconditionFailure("the scores of tile \(row), \(column) are not there")
            }
            return values
        }
        set { scores[Position(row: row, column: column)] = newValue }
    }

    /// Forgets the tiles that do not reach into the next row, or column, of tiles.
    package mutating func forget(upTo index: Int, isColumn: Bool, of axis: TileAxis) {
        guard index + 1 < axis.starts.count else { return scores.removeAll() }
        scores = scores.filter { position, _ in
            axis.starts[isColumn ? position.column : position.row] + axis.tile > axis.starts[index + 1]
        }
    }
}

/// What is made, and where it goes: row by row, without padding, as large as the target. Nil or empty: not wanted.
package struct BlendOutputs {
    /// The class of the largest score, the lowest of equals; for a single channel 1 where its probability is at least 0.5.
    package var categories: UnsafeMutableBufferPointer<UInt8>?
    /// Confidences of some classes.
    package var confidences: [(classIndex: Int, values: UnsafeMutableBufferPointer<Float>)] = []
    /// All channels, innermost.
    package var scores: UnsafeMutableBufferPointer<Float>?
    /// Is shown the scores of neighbouring pixels, on any thread: the index of the first, how many there are, their values, and
    /// the distance from one to the next.
    package var reader: ((_ pixel: Int, _ count: Int, _ values: UnsafePointer<Float>, _ stride: Int) -> Void)?

    package init() {}
}

/// Makes masks of a picture from the scores of tiles of it.
///
/// The scores at a place of the picture are those of the tiles that cover it, resampled by half-pixel bilinear and added up
/// with the weights of `TileAxis`; what is asked for is made of them row by row, so that they never exist at the picture's size.
///
/// It is not reentrant: one call at a time.
package final class TileBlender {
    private let rows, columns: [TileSpan]
    private let height, width: Int
    private let output: Shape
    private let outputsLogits: Bool
    private let backend: CPUBackend
    /// Floats of a blended pixel: the channels, and what fills the last vector.
    private let stride: Int

    private typealias Lanes = SIMD8<Float>

    /// - Parameters:
    ///   - rows: How the height is covered.
    ///   - columns: How the width is covered.
    ///   - target: Size of the masks: the picture's, or any other.
    ///   - output: Extent of a tile's scores.
    ///   - outputsLogits: Whether a soft-max, or a sigmoid, makes confidences of them.
    ///   - backend: Whose threads do the work.
    package init(
        rows: TileAxis, columns: TileAxis, target: Extent, output: Shape, outputsLogits: Bool, backend: CPUBackend
    ) {
        self.rows = rows.spans(target: target.height, output: output.height)
        self.columns = columns.spans(target: target.width, output: output.width)
        (height, width) = (target.height, target.width)
        self.output = output
        self.outputsLogits = outputsLogits
        self.backend = backend
        let vector = max(Lanes.scalarCount, Int(backend.kernels.lanes))
        stride = (output.channels + vector - 1) / vector * vector
    }

    /// Fills the part of the masks from the first row or column of a row or column of tiles to that of the next.
    ///
    /// - Parameters:
    ///   - index: Which one; its scores are there, and those of all before it that reach over its first row or column.
    ///   - isColumn: Whether it is a column of tiles.
    package func blend(_ index: Int, isColumn: Bool, of tiles: TileScores, into outputs: BlendOutputs) {
        let spans = isColumn ? columns : rows
        let start = spans[index].range.lowerBound
        let end = index + 1 < spans.count ? spans[index + 1].range.lowerBound : isColumn ? width : height
        let (part, across) = isColumn ? (0..<height, start..<end) : (start..<end, 0..<width)
        guard !part.isEmpty, !across.isEmpty else { return }
        let linesCount = (output.width * output.channels + stride + 15) / 16 * 16
        let scratchCount = (linesCount + across.count * stride + 15) / 16 * 16
        let scratch = FloatBuffer(count: scratchCount * backend.threadCount)
        backend.pool.forEach(part.count) { task, thread in
            let lines = scratch.pointer + thread * scratchCount
            let values = lines + linesCount
            let y = part.lowerBound + task
            values.update(repeating: 0, count: across.count * stride)
            for (column, span) in columns.enumerated() {
                let range = span.range.clamped(to: across)
                guard !range.isEmpty else { continue }
                addLines(of: column, at: y, tiles, into: lines)
                for x in range { add(span, x, lines, to: values + (x - across.lowerBound) * stride) }
            }
            finish(values, across.count, pixel: y * width + across.lowerBound, into: outputs)
        }
    }

    /// Adds the scores of a column of tiles at a pixel.
    @inline(__always)
    private func add(
        _ span: TileSpan, _ x: Int, _ lines: UnsafePointer<Float>, to values: UnsafeMutablePointer<Float>
    ) {
        let tap = span.taps[x - span.range.lowerBound]
        let weight = span.weights[x - span.range.lowerBound]
        let near = Lanes(repeating: weight * (1 - Float(tap.share)))
        let far = Lanes(repeating: weight * Float(tap.share))
        let from = UnsafeRawPointer(lines + tap.first * output.channels)
        let other = UnsafeRawPointer(lines + tap.second * output.channels)
        let to = UnsafeMutableRawPointer(values)
        for offset in Swift.stride(from: 0, to: stride * 4, by: Lanes.scalarCount * 4) {
            let sum =
                to.loadUnaligned(fromByteOffset: offset, as: Lanes.self)
                + near * from.loadUnaligned(fromByteOffset: offset, as: Lanes.self)
                + far * other.loadUnaligned(fromByteOffset: offset, as: Lanes.self)
            to.storeBytes(of: sum, toByteOffset: offset, as: Lanes.self)
        }
    }

    /// The row of scores of a column of tiles: those of its tiles at a row of the mask, with the rows' weights.
    private func addLines(of column: Int, at y: Int, _ tiles: TileScores, into lines: UnsafeMutablePointer<Float>) {
        let count = output.width * output.channels
        lines.update(repeating: 0, count: count + stride)
        for (row, span) in rows.enumerated() where span.range.contains(y) {
            let tap = span.taps[y - span.range.lowerBound]
            let weight = span.weights[y - span.range.lowerBound]
            let near = weight * (1 - Float(tap.share))
            let far = weight * Float(tap.share)
            let scores = tiles[row, column]
            precondition(scores.count == output.elementCount, "scores of another shape")
            scores.withUnsafeBufferPointer { scores in
                guard let base = scores.baseAddress else { return }
                let (from, other) = (base + tap.first * count, base + tap.second * count)
                for index in 0..<count { lines[index] += near * from[index] + far * other[index] }
            }
        }
    }

    /// Makes of the blended scores of neighbouring pixels what is asked for. They are lost with it.
    private func finish(
        _ values: UnsafeMutablePointer<Float>, _ count: Int, pixel: Int, into outputs: BlendOutputs
    ) {
        let channels = output.channels
        outputs.reader?(pixel, count, values, stride)
        if let scores = outputs.scores?.baseAddress {
            for x in 0..<count {
                (scores + (pixel + x) * channels).update(from: values + x * stride, count: channels)
            }
        }
        if let categories = outputs.categories?.baseAddress {
            if channels == 1 {
                // A logit of 0 is a probability of 0.5.
                let bar: Float = outputsLogits ? 0 : 0.5
                for x in 0..<count { categories[pixel + x] = values[x * stride] >= bar ? 1 : 0 }
            } else {
                for x in 0..<count { categories[pixel + x] = largest(values + x * stride, channels) }
            }
        }
        guard !outputs.confidences.isEmpty else { return }
        if outputsLogits, channels > 1 { backend.kernels.softmaxRows(values, channels, stride, count) }
        for (classIndex, plane) in outputs.confidences {
            guard let row = plane.baseAddress.map({ $0 + pixel }) else { continue }
            for x in 0..<count { row[x] = values[x * stride + (channels == 1 ? 0 : classIndex)] }
            if channels == 1 {
                if outputsLogits { backend.kernels.sigmoid(row, row, count) }
                if classIndex == 0 { for x in 0..<count { row[x] = 1 - row[x] } }
            }
        }
    }

    private func largest(_ values: UnsafePointer<Float>, _ count: Int) -> UInt8 {
        var (best, index) = (values[0], 0)
        for candidate in 1..<count where values[candidate] > best {
            best = values[candidate]
            index = candidate
        }
        return UInt8(truncatingIfNeeded: index)
    }
}
