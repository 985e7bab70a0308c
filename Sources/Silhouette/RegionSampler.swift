import Glibc
import ModelGraph

/// Makes masks at a picture's size where picture and network input do not cover each other: letterbox and crop.
///
/// The network's output is computed at its own size and resampled from the part that shows the picture, with half-pixel
/// centres. Positions are held inside that part, so that no bar of a letterbox bleeds into the picture. Pixels that a
/// crop has cut off were not seen: they are background, with a confidence and scores of zero for every class.
final class RegionSampler: MaskSampler {
    /// What one row or column of the masks is made of. Nil: the network has not seen it.
    private struct Tap {
        let first, second: Int
        let share: Float
    }

    private let output: MaskSampler
    private let channels: Int
    private let outputExtent: Extent
    private let rows: [Tap?]
    private let columns: [Tap?]
    private let needsSoftmax: Bool
    private let values: FloatBuffer
    private let line: FloatBuffer
    private let pixel: FloatBuffer

    init(geometry: FitGeometry, network: CPUNetwork) throws {
        output = network.sampler(for: network.outputExtent)
        channels = network.scoreShape.channels
        outputExtent = network.outputExtent
        needsSoftmax = network.model.outputKind == .logits
        let (source, target, input) = (geometry.source, geometry.target, geometry.network)
        rows = Self.taps(
            geometry.picture.height, seen: source.y..<source.y + source.height,
            shownAt: target.y..<target.y + target.height, of: input.height, output: outputExtent.height
        ) { geometry.networkPosition(x: 0, y: $0).y }
        columns = Self.taps(
            geometry.picture.width, seen: source.x..<source.x + source.width,
            shownAt: target.x..<target.x + target.width, of: input.width, output: outputExtent.width
        ) { geometry.networkPosition(x: $0, y: 0).x }
        values = FloatBuffer(count: outputExtent.height * outputExtent.width * channels)
        line = FloatBuffer(count: outputExtent.width * channels)
        pixel = FloatBuffer(count: channels)
    }

    private static func taps(
        _ count: Int, seen: Range<Int>, shownAt shown: Range<Int>, of inputCount: Int, output outputCount: Int,
        _ inputPosition: (Double) -> Double
    ) -> [Tap?] {
        let scale = Double(outputCount) / Double(inputCount)
        return (0..<count).map { index in
            guard seen.contains(index) else { return nil }
            let inside = min(max(inputPosition(Double(index)), Double(shown.lowerBound)), Double(shown.upperBound - 1))
            let position = min(max((inside + 0.5) * scale - 0.5, 0), Double(outputCount - 1))
            let first = Int(position)
            return Tap(
                first: first, second: min(first + 1, outputCount - 1), share: Float(position - Double(first)))
        }
    }

    func categories(_ scores: UnsafeBufferPointer<Float>, into categories: UnsafeMutableBufferPointer<UInt8>) {
        let threshold: Float = needsSoftmax ? 0 : 0.5
        forEachPixel(scores) { index, values in
            guard let values else {
                categories[index] = 0
                return
            }
            if channels == 1 {
                categories[index] = values[0] >= threshold ? 1 : 0
                return
            }
            var best = 0
            for channel in 1..<channels where values[channel] > values[best] { best = channel }
            categories[index] = UInt8(truncatingIfNeeded: best)
        }
    }

    func confidences(
        _ scores: UnsafeBufferPointer<Float>, classes: [Int], into planes: [UnsafeMutableBufferPointer<Float>]
    ) {
        forEachPixel(scores) { index, values in
            guard let values else {
                for plane in planes { plane[index] = 0 }
                return
            }
            if needsSoftmax { confidencesInPlace(values) }
            for (category, plane) in zip(classes, planes) {
                if channels == 1 {
                    plane[index] = category == 1 ? values[0] : 1 - values[0]
                } else {
                    plane[index] = values[category]
                }
            }
        }
    }

    func scores(_ scores: UnsafeBufferPointer<Float>, into destination: UnsafeMutableBufferPointer<Float>) {
        forEachPixel(scores) { index, values in
            for channel in 0..<channels { destination[index * channels + channel] = values?[channel] ?? 0 }
        }
    }

    /// The sigmoid of a single score, the soft-max of several.
    private func confidencesInPlace(_ values: UnsafeMutableBufferPointer<Float>) {
        guard channels > 1 else {
            values[0] = 1 / (1 + expf(-values[0]))
            return
        }
        let largest = values.max() ?? 0
        var sum: Float = 0
        for channel in 0..<channels {
            values[channel] = expf(values[channel] - largest)
            sum += values[channel]
        }
        for channel in 0..<channels { values[channel] /= sum }
    }

    /// Calls `body` with each pixel's index and its resampled output, which it may change; nil where unseen.
    private func forEachPixel(
        _ scores: UnsafeBufferPointer<Float>, _ body: (Int, UnsafeMutableBufferPointer<Float>?) -> Void
    ) {
        output.scores(scores, into: values.mutableValues)
        let (values, line, pixel) = (values.mutableValues, line.mutableValues, pixel.mutableValues)
        let rowLength = outputExtent.width * channels
        for (y, row) in rows.enumerated() {
            if let row {
                for index in 0..<rowLength {
                    let (first, second) = (
                        values[row.first * rowLength + index], values[row.second * rowLength + index]
                    )
                    line[index] = first + (second - first) * row.share
                }
            }
            for (x, column) in columns.enumerated() {
                let index = y * columns.count + x
                guard row != nil, let column else {
                    body(index, nil)
                    continue
                }
                for channel in 0..<channels {
                    let first = line[column.first * channels + channel]
                    let second = line[column.second * channels + channel]
                    pixel[channel] = first + (second - first) * column.share
                }
                body(index, pixel)
            }
        }
    }
}
