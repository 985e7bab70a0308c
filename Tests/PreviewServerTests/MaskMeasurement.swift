import Foundation
import Imaging
import ModelGraph
import PreviewProtocol
import Silhouette
import Testing

/// How long masks become and how long that takes, for the table in the protocol's documentation.
///
///     ffmpeg -i clip.mkv frames/clip-%04d.png; SILHOUETTE_MEASURE=frames SILHOUETTE_MODEL=... scripts/test --filter MaskMeasurement
@Suite("Measurement of mask encodings")
struct MaskMeasurement {
    private static let folder = ProcessInfo.processInfo.environment["SILHOUETTE_MEASURE"]

    @Test(
        "Bytes and time of each encoding",
        .enabled(if: folder != nil, "measures only with SILHOUETTE_MEASURE=FOLDER of frames"))
    func encodings() throws {
        let folder = try #require(Self.folder)
        var options = ImageSegmenterOptions()
        options.baseOptions.device = .cpu
        options.maskSize = .model
        options.shouldOutputConfidenceMasks = true
        options.confidenceClasses = [15]
        let segmenter = try ImageSegmenter(options: options)
        var categories: [Image] = []
        var alphas: [Image] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            let image = try ImageFile.read(path: "\(folder)/\(name)").image
            let result = try segmenter.segment(image: image)
            let size = PixelSize(width: result.width, height: result.height)
            let mask = try #require(result.categoryMask).categories
            categories.append(try Image(width: size.width, height: size.height, format: .gray, bytes: mask))
            let plane = try #require(result.confidenceMasks?.first).confidences
            alphas.append(plane.withUnsafeBufferPointer { Compositing.grayPlane($0, size: size) })
        }
        for (kind, masks) in [("categories", categories), ("alpha", alphas)] {
            func measure(_ name: String, _ encode: (Image) throws -> [UInt8]) rethrows {
                var best = Double.infinity
                var counts: [Int] = []
                for _ in 0..<3 {
                    let start = ContinuousClock.now
                    counts = try masks.map { try encode($0).count }
                    best = min(best, (ContinuousClock.now - start) / .milliseconds(1) / Double(masks.count))
                }
                counts.sort()
                let mean = counts.reduce(0, +) / counts.count
                print(
                    "| \(kind) | \(name) | \(mean) | \(counts[counts.count * 99 / 100]) | \(String(format: "%.3f", best)) |"
                )
            }
            print("\(masks.count) masks of \(masks[0].size)")
            measure("plain") { $0.bytes }
            measure("run-length") { MaskCodec.encode($0.bytes, as: .runLength) }
            for level in [1, 2, 3, 4, 5, 6, 9] as [Int32] {
                measure("deflate \(level)") { MaskCodec.deflate($0.bytes, level: level) }
            }
            if kind == "categories" {
                try measure("PNG, indexed") { try $0.encodedAsIndexedPNG(palette: .voc(count: 21)) }
            }
            try measure("PNG, grey") { try $0.encoded(as: .png) }
        }
    }
}
