import DeviceSupport
import Dispatch
import Silhouette
import Synchronization
import TestSupport
import Testing

/// What holds when everything happens at once.
@Suite("Stress")
struct StressTests {
    private func options(_ mode: RunningMode = .image, _ delegate: RecordingDelegate? = nil) -> ImageSegmenterOptions {
        var options = ImageSegmenterOptions()
        options.baseOptions.modelAssetPath = Checkout.path("Tests/Fixtures/mini.safetensors")
        options.baseOptions.threadCount = 2
        options.runningMode = mode
        options.imageSegmenterLiveStreamDelegate = delegate
        return options
    }

    private func picture() throws -> Image {
        try ImageFile.read(path: Checkout.path("Tests/Fixtures/mini.input.png")).image
    }

    @Test("Many segmenters, made and used at once, give what one gives")
    func manySegmenters() async throws {
        let picture = try picture()
        let expected = try ImageSegmenter(options: options()).segment(image: picture).categoryMask
        try await withThrowingTaskGroup(of: CategoryMask?.self) { group in
            for _ in 0..<12 {
                group.addTask { try ImageSegmenter(options: options()).segment(image: picture).categoryMask }
            }
            for try await mask in group { #expect(mask == expected) }
        }
    }

    @Test("Many callers with pictures of more sizes than are kept ready get what each alone gets", .needsVulkan)
    func manySizes() async throws {
        let sizes = [(1, 1), (7, 1), (1, 31), (65, 65), (64, 3), (33, 70), (131, 57), (80, 48)]
        let pictures = try sizes.map { try VulkanTests.picture(width: $0.0, height: $0.1) }
        let warnings = Warnings()
        let segmenter = try ImageSegmenter(options: VulkanTests.options(warnings), model: VulkanTests.model)
        let expected = try pictures.map { try segmenter.segment(image: $0).categoryMask }
        let wrongCount = await withTaskGroup(of: Int.self) { group in
            for caller in 0..<8 {
                group.addTask {
                    // Callers go through the sizes in different orders, some of them in step.
                    let order = (0..<12).map { (caller / 2 + $0 * (caller % 3 + 1)) % pictures.count }
                    return order.count { (try? segmenter.segment(image: pictures[$0]).categoryMask) != expected[$0] }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrongCount == 0)
        #expect(warnings.all.isEmpty && segmenter.deviceFailure == nil)
    }

    @Test("Segmenters on a device that are made, used and let go at once give what one gives", .needsVulkan)
    func manyDevices() async throws {
        let picture = try VulkanTests.picture()
        let model = VulkanTests.model
        let expected = try ImageSegmenter(options: VulkanTests.options(), model: model).segment(image: picture)
        try await withThrowingTaskGroup(of: CategoryMask?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var segmenter: ImageSegmenter? = try ImageSegmenter(options: VulkanTests.options(), model: model)
                    let mask = try segmenter?.segment(image: picture).categoryMask
                    segmenter = nil
                    return mask
                }
            }
            for try await mask in group { #expect(mask == expected.categoryMask) }
        }
    }

    @Test("A segmenter that is let go while a frame waits finishes it, and is then gone")
    func letGo() async throws {
        let picture = try picture()
        let delegate = RecordingDelegate()
        var reports = delegate.reports.makeAsyncIterator()
        for round in 0..<20 {
            var segmenter: ImageSegmenter? = try ImageSegmenter(options: options(.liveStream, delegate))
            let results = try #require(segmenter).liveStreamResults()
            try segmenter?.segmentAsync(image: picture, timestampInMilliseconds: round)
            segmenter = nil
            #expect(await reports.next() == .init(timestamp: round, width: picture.width))
            // The sequence ends when the segmenter is gone: a reference that stays would hang here.
            for await result in results { #expect(result.timestampInMilliseconds == round) }
        }
    }

    @Test("A delegate that blocks holds up nobody who hands in frames")
    func blockingDelegate() async throws {
        let delegate = BlockingDelegate()
        var options = options(.liveStream)
        options.imageSegmenterLiveStreamDelegate = delegate
        let segmenter = try ImageSegmenter(
            options: options, model: .named(["background", "person"]), engine: FakeEngine(isGated: false))
        try segmenter.segmentAsync(image: frame(width: 1), timestampInMilliseconds: 0)
        delegate.waitUntilCalled()
        for timestamp in 1...100 {
            try segmenter.segmentAsync(image: frame(width: 1), timestampInMilliseconds: timestamp)
        }
        #expect(segmenter.droppedFrameCount == 99)
        var results = segmenter.liveStreamResults().makeAsyncIterator()
        delegate.release()
        #expect(await results.next()?.timestampInMilliseconds == 0)
        delegate.waitUntilCalled()
        delegate.release()
        let last = await results.next()
        #expect(last?.timestampInMilliseconds == 100)
        #expect(last?.droppedFrameCount == 99)
    }

    @Test("Of timestamps from many threads, those accepted rise, and each is reported or counted as dropped")
    func unorderedTimestamps() async throws {
        let delegate = RecordingDelegate()
        let segmenter = try ImageSegmenter(
            options: options(.liveStream, delegate), model: .named(["background", "person"]),
            engine: FakeEngine(isGated: false))
        let picture = try frame(width: 1)
        let accepted = Atomic(0)
        let refused = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 2_000) { index in
            // 0 ..< 2,000 in an order without order.
            let timestamp = index * 1_237 % 2_000
            do throws(ImageSegmenterError) {
                try segmenter.segmentAsync(image: picture, timestampInMilliseconds: timestamp)
                accepted.add(1, ordering: .relaxed)
            } catch {
                if case .timestampNotIncreasing = error { refused.add(1, ordering: .relaxed) }
            }
        }
        try segmenter.segmentAsync(image: picture, timestampInMilliseconds: 5_000)
        var reported: [Int] = []
        for await report in delegate.reports {
            reported.append(report.timestamp)
            if report.timestamp == 5_000 { break }
        }
        let counts = (accepted.load(ordering: .relaxed), refused.load(ordering: .relaxed))
        #expect(counts.0 + counts.1 == 2_000)
        #expect(reported.count + segmenter.droppedFrameCount == counts.0 + 1)
        #expect(zip(reported, reported.dropFirst()).allSatisfy { $0 < $1 })
    }
}

/// Stays in each call until it is released.
private final class BlockingDelegate: ImageSegmenterLiveStreamDelegate {
    private let called = DispatchSemaphore(value: 0)
    private let released = DispatchSemaphore(value: 0)

    func waitUntilCalled() { called.wait() }
    func release() { released.signal() }

    func imageSegmenter(
        _ imageSegmenter: ImageSegmenter, didFinishSegmentation result: ImageSegmenterResult?,
        timestampInMilliseconds: Int, error: (any Error)?
    ) {
        called.signal()
        released.wait()
    }
}
