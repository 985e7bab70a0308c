import Base
import ModelGraph
import Silhouette
import TestSupport
import Testing
import VulkanCompute

/// What tests of the Vulkan path run: a model, pictures and options.
enum VulkanTests {
    static let model = try! Model(path: Checkout.path("Tests/Fixtures/mini.safetensors"))

    /// A picture of noise and a disc, for which the mini network sees several classes.
    static func picture(width: Int = 65, height: Int = 65, seed: UInt64 = 1) throws -> Image {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let isInside =
                    (x - width / 2) * (x - width / 2) + (y - height / 2) * (y - height / 2) < width * height / 9
                for channel in 0..<3 {
                    let base = isInside ? 180 - 60 * channel : 40 + 60 * channel
                    bytes.append(UInt8(base + Int.random(in: 0..<40, using: &random)))
                }
            }
        }
        return try Image(width: width, height: height, format: .rgb, bytes: bytes)
    }

    /// Options for the first device, which keep nothing on disk.
    static func options(_ warnings: Warnings? = nil) -> ImageSegmenterOptions {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = .vulkan(.best)
        options.baseOptions.shaderCacheFolder = nil
        if let warnings { options.baseOptions.warningHandler = { warnings.add($0) } }
        return options
    }
}

extension SegmentationEngine {
    /// Segments a picture with the test model, as options ask for.
    func segment(_ image: Image, _ options: ImageSegmenterOptions = ImageSegmenterOptions())
        throws(ImageSegmenterError) -> Masks
    {
        try segment(image, MaskRequest(options, of: ModelOutput(VulkanTests.model)))
    }
}

/// What a warning handler was told.
final class Warnings: Sendable {
    private let lines = Locked<[String]>([])
    var all: [String] { lines.withLock(\.self) }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
