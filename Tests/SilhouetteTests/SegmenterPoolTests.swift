import Silhouette
import TestSupport
import Testing

@Suite("Many pictures")
struct SegmenterPoolTests {
    private struct Missing: Error {}

    private func pool(_ count: Int, threads: Int? = nil) throws -> SegmenterPool {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = .cpu
        options.baseOptions.threadCount = threads
        options.maskSize = .model
        return try SegmenterPool(options: options, model: VulkanTests.model, pictureCount: count)
    }

    @Test("On the processor pictures have cores of their own where there are enough of them")
    func segmenters() throws {
        #expect(try pool(1).segmenters.count == 1)
        #expect(try pool(3).segmenters.count == 1)
        #expect(try pool(.max, threads: 2).segmenters.count == 1)
        let several = try pool(.max).segmenters
        #expect((1...4).contains(several.count))
        #expect(several.allSatisfy { $0.deviceReason == several[0].deviceReason && $0.deviceID == "cpu" })
    }

    @Test("Results are those of one segmenter, in the pictures' order; what fails does not stop the others")
    func results() throws {
        let seeds = Array(0..<9)
        let alone = try pool(1).segmenters[0]
        var finished: [Int] = []
        try pool(seeds.count).segment(seeds) { seed in
            if seed == 4 { throw Missing() }
            return try VulkanTests.picture(width: 50 + seed, seed: UInt64(seed))
        } finish: { seed, outcome in
            finished.append(seed)
            switch outcome {
            case .success(let (image, result)):
                #expect(seed != 4 && image.width == 50 + seed)
                #expect(result.categoryMask == (try? alone.segment(image: image))?.categoryMask)
            case .failure(let error): #expect(seed == 4 && error is Missing)
            }
        }
        #expect(finished == seeds)
    }

    @Test("No pictures are no work")
    func none() throws {
        try pool(0).segment([Int]()) { _ in
            throw Missing()
        } finish: { _, _ in
            Issue.record("there is none")
        }
    }
}
