import Silhouette
import TestSupport
import Testing

@Suite("Results")
struct ResultTests {
    @Test("Masks are found by the name of their class and read by column and row")
    func access() throws {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = .cpu
        options.shouldOutputConfidenceMasks = true
        options.confidenceClasses = [15, 0]
        options.shouldOutputScores = true
        let picture = try VulkanTests.picture(width: 31, height: 20)
        let result = try ImageSegmenter(options: options, model: VulkanTests.model).segment(image: picture)
        #expect(result.size == picture.size && result.labels == VulkanTests.model.labels)
        let person = try #require(result.confidenceMask(for: result.labels[15]))
        #expect(person.classIndex == 15 && person == result.confidenceMasks?[0])
        #expect(result.confidenceMask(forClass: 0) == result.confidenceMasks?[1])
        #expect(result.confidenceMask(forClass: 3) == nil && result.confidenceMask(forClass: -1) == nil)
        #expect(result.confidenceMask(for: "unicorn") == nil && result.confidenceMask(for: result.labels[3]) == nil)
        let (scores, categories) = try (#require(result.scores), #require(result.categoryMask))
        for (x, y) in [(0, 0), (30, 19), (7, 11)] {
            #expect(person[x, y] == person.confidences[y * 31 + x])
            #expect(scores[x, y, 4] == scores.values[(y * 31 + x) * 21 + 4])
            let best = (0..<21).map { scores[x, y, $0] }.max() ?? 0
            #expect(scores[x, y, Int(categories[x, y])] > best - 1e-4)
        }
    }

    @Test("Everything a caller passes from task to task can be")
    func sendable() {
        func require<Value: Sendable>(_: Value.Type) {}
        require(ImageSegmenter.self)
        require(ImageSegmenterOptions.self)
        require(ImageSegmenterResult.self)
        require(ImageSegmenterError.self)
        require(LiveStreamResult.self)
        require(CategoryMask.self)
        require(ConfidenceMask.self)
        require(ScoreMap.self)
        require(Timings.self)
        require(Image.self)
        require(YCbCr.self)
        require(Palette.self)
    }
}
