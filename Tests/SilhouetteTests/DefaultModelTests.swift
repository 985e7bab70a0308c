import DeviceSupport
import ModelGraph
import Silhouette
import TestSupport
import Testing

@Suite("The default model")
struct DefaultModelTests {
    private func fixture(_ name: String) -> String { Checkout.path("Tests/Fixtures/default." + name) }

    /// Compares with what ONNX Runtime makes of the same file.
    private func compare(_ change: (inout BaseOptions) -> Void) throws {
        var options = ImageSegmenterOptions()
        options.baseOptions.modelAssetPath = Checkout.path(ModelLocator.includedFile)
        options.maskSize = .model
        options.shouldOutputScores = true
        change(&options.baseOptions)
        let result = try ImageSegmenter(options: options).segment(
            image: try ImageFile.read(path: fixture("input.png")).image)
        let scores = try #require(result.scores)
        let expected = try NPYFile(path: fixture("scores.npy"))
        let step = 16
        #expect(expected.shape == [(scores.height - 1) / step + 1, (scores.width - 1) / step + 1, scores.channels])
        let largest = expected.values.map(abs).max() ?? 0
        var worst: Float = 0
        for row in 0..<expected.shape[0] {
            for column in 0..<expected.shape[1] {
                for channel in 0..<scores.channels {
                    let at = (row * step * scores.width + column * step) * scores.channels + channel
                    let wanted = expected.values[(row * expected.shape[1] + column) * scores.channels + channel]
                    worst = max(worst, abs(scores.values[at] - wanted))
                }
            }
        }
        #expect(worst <= 1e-4 * max(1, largest))
        let labels = try ImageFile.readLabels(path: fixture("labels.png")).bytes
        let mask = try #require(result.categoryMask).categories
        let equalCount = zip(mask, labels).count { $0 == $1 }
        // Ties of two classes may fall either way.
        #expect(mask.count == labels.count && Double(equalCount) >= 0.999 * Double(labels.count))
    }

    @Test("The processor's scores and labels are ONNX Runtime's")
    func processor() throws { try compare { $0.device = .cpu } }

    @Test("So are a Vulkan device's", .needsVulkan)
    func vulkan() throws { try compare { $0.device = .vulkan(.best) } }

    @Test("It is a DeepLabV3 for the 21 classes of PASCAL VOC, stored in at most 3 MB")
    func file() throws {
        let model = try Model(path: Checkout.path(ModelLocator.includedFile))
        #expect(model.name == "silhouette-deeplabv3" && model.source.licence == "Apache-2.0")
        #expect(model.labels.count == 21 && model.labels[0] == "background" && model.labels[15] == "person")
        #expect(model.graph.parameterCount * 2 <= 3_000_000)
    }
}
