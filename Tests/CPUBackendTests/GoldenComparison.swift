import CPUBackend
import Imaging
import ModelGraph
import TestSupport
import Testing

/// The pictures that have reference outputs.
let goldenPictures = [
    "astronaut", "camera", "chelsea", "coco_000000000139", "coco_000000005037", "coco_000000011122", "rocket",
]

extension Model {
    /// The network's input for a picture of exactly its size: byte * scale + bias, in the order of its channels.
    func input(picture path: String) throws -> Tensor {
        let picture = try ImageFile.read(path: path).image
        #expect(picture.format == .rgb && picture.width == input.width && picture.height == input.height)
        let order: [Int] =
            switch input.order {
            case .rgb: [0, 1, 2]
            case .bgr: [2, 1, 0]
            case .gray: [0]
            }
        var values: [Float] = []
        for y in 0..<picture.height {
            for x in 0..<picture.width {
                for (channel, source) in order.enumerated() {
                    let byte = picture.bytes[y * picture.rowStride + x * 3 + source]
                    values.append(Float(byte) * input.scale[channel] + input.bias[channel])
                }
            }
        }
        return Tensor(shape: input.shape, values: values)
    }

    /// Runs the optimised network on a picture of its size and gives its whole output.
    func scores(of picture: String, on backend: CPUBackend) throws -> Tensor {
        try backend.compile(graph.optimized(), batch: 1).run([input(picture: picture)])[0]
    }

    /// The same, up to where the trailing resizes begin.
    func trunkScores(of picture: String, on backend: CPUBackend) throws -> Tensor {
        try backend.compile(graph.optimized().separatingHead().trunk, batch: 1).run([input(picture: picture)])[0]
    }

    /// Categories of a mask of any size, as `ScoreSampler` makes them from the trunk's scores.
    func categories(_ trunk: Tensor, size: Extent, on backend: CPUBackend) -> [UInt8] {
        let sampler = ScoreSampler(
            scores: trunk.shape, head: graph.optimized().separatingHead().head, kind: outputKind, target: size,
            backend: backend)
        var categories = [UInt8](repeating: 255, count: size.height * size.width)
        trunk.values.withUnsafeBufferPointer { scores in
            categories.withUnsafeMutableBufferPointer { sampler.categories(scores, into: $0) }
        }
        return categories
    }
}

/// A label picture: one class index a pixel.
struct LabelPicture {
    let size: Extent
    let values: [UInt8]

    init(path: String) throws {
        let picture = try ImageFile.readLabels(path: path)
        size = Extent(height: picture.height, width: picture.width)
        values = (0..<picture.height).flatMap { y in
            picture.bytes[y * picture.rowStride..<y * picture.rowStride + picture.width]
        }
    }

    /// The part of the pixels at which another label map says the same.
    func agreement(with other: [UInt8]) -> Double {
        precondition(other.count == values.count)
        return Double(zip(values, other).count { $0 == $1 }) / Double(values.count)
    }
}

extension Tensor {
    /// The largest channel of each pixel, the lowest of equals.
    var labels: [UInt8] {
        (0..<shape.pixelCount).map { pixel in
            let scores = values[pixel * shape.channels..<(pixel + 1) * shape.channels]
            return UInt8(scores.firstIndex(of: scores.max()!)! - scores.startIndex)
        }
    }

    /// How far the largest channel of each pixel is above the second.
    var margins: [Float] {
        (0..<shape.pixelCount).map { pixel in
            let scores = values[pixel * shape.channels..<(pixel + 1) * shape.channels].sorted(by: >)
            return scores[0] - scores[1]
        }
    }

    /// The largest difference to values in the same order.
    func largestDifference(from other: [Float]) -> Float {
        precondition(other.count == values.count)
        return zip(values, other).reduce(0) { max($0, abs($1.0 - $1.1)) }
    }
}
