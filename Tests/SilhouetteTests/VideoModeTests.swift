import DeviceSupport
import Dispatch
import ModelGraph
import Silhouette
import Synchronization
import TestSupport
import Testing

@Suite("Video mode")
struct VideoModeTests {
    private func segmenter(_ engine: FakeEngine) throws -> ImageSegmenter {
        var options = ImageSegmenterOptions()
        options.runningMode = .video
        return try ImageSegmenter(options: options, model: .named(["background", "person"]), engine: engine)
    }

    @Test("A result carries its frame's timestamp")
    func timestamps() throws {
        let segmenter = try segmenter(FakeEngine(isGated: false))
        for (width, timestamp) in [(1, -40), (2, 0), (3, 33), (4, .max)] {
            let result = try segmenter.segment(videoFrame: frame(width: width), timestampInMilliseconds: timestamp)
            #expect(result.timestampInMilliseconds == timestamp && result.width == width)
        }
    }

    @Test("A timestamp that is not later is refused, and harms no later frame")
    func refusedTimestamps() throws {
        let segmenter = try segmenter(FakeEngine(isGated: false))
        _ = try segmenter.segment(videoFrame: frame(width: 1), timestampInMilliseconds: 40)
        for late in [40, 39, -1, .min] {
            #expect(
                throws: ImageSegmenterError.timestampNotIncreasing(
                    timestampInMilliseconds: late, lastTimestampInMilliseconds: 40)
            ) { try segmenter.segment(videoFrame: frame(width: 1), timestampInMilliseconds: late) }
        }
        #expect(
            try segmenter.segment(videoFrame: frame(width: 2), timestampInMilliseconds: 41).timestampInMilliseconds
                == 41)
    }

    @Test("A frame that fails has had its time; the video goes on")
    func failure() throws {
        let segmenter = try segmenter(FakeEngine(isGated: false, failingWidth: 7))
        #expect(throws: ImageSegmenterError.inferenceFailed("as the test asked")) {
            try segmenter.segment(videoFrame: frame(width: 7), timestampInMilliseconds: 5)
        }
        #expect(throws: ImageSegmenterError.self) {
            try segmenter.segment(videoFrame: frame(width: 1), timestampInMilliseconds: 5)
        }
        #expect(try segmenter.segment(videoFrame: frame(width: 1), timestampInMilliseconds: 6).width == 1)
    }

    @Test("Each running mode takes its own calls only")
    func modes() throws {
        for mode in RunningMode.allCases {
            var options = ImageSegmenterOptions()
            options.runningMode = mode
            let segmenter = try ImageSegmenter(
                options: options, model: .named(["background"]), engine: FakeEngine(isGated: false))
            for other in RunningMode.allCases {
                func call() throws {
                    switch other {
                    case .image: _ = try segmenter.segment(image: frame(width: 1))
                    case .video: _ = try segmenter.segment(videoFrame: frame(width: 1), timestampInMilliseconds: 1)
                    case .liveStream: try segmenter.segmentAsync(image: frame(width: 1), timestampInMilliseconds: 1)
                    }
                }
                if other == mode {
                    try call()
                } else {
                    #expect(throws: ImageSegmenterError.wrongRunningMode(needed: other, actual: mode)) { try call() }
                }
            }
        }
    }

    @Test("From many tasks at once: of the timestamps those accepted rise, and every result is its frame's")
    func manyTasks() async throws {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = .cpu
        options.runningMode = .video
        let segmenter = try ImageSegmenter(options: options, model: VulkanTests.model)
        options.runningMode = .image
        let single = try ImageSegmenter(options: options, sharing: segmenter)
        let pictures = try (0..<3).map { try VulkanTests.picture(width: 40 + 9 * $0, height: 50, seed: UInt64($0)) }
        let expected = try pictures.map { try single.segment(image: $0).categoryMask }
        let next = Counter()
        let (accepted, refused) = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for task in 0..<8 {
                group.addTask {
                    var counts = (0, 0)
                    for _ in 0..<12 {
                        // Half of the tasks come too late now and then.
                        let timestamp = next.increment() - (task % 2) * 3
                        let index = abs(timestamp) % 3
                        do throws(ImageSegmenterError) {
                            let result = try segmenter.segment(
                                videoFrame: pictures[index], timestampInMilliseconds: timestamp)
                            #expect(result.timestampInMilliseconds == timestamp)
                            #expect(result.categoryMask == expected[index])
                            counts.0 += 1
                        } catch {
                            guard case .timestampNotIncreasing = error else { throw error }
                            counts.1 += 1
                        }
                    }
                    return counts
                }
            }
            return try await group.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
        }
        #expect(accepted + refused == 96 && accepted > 0)
        let last = try segmenter.segment(videoFrame: pictures[1], timestampInMilliseconds: 1000)
        #expect(last.categoryMask == expected[1])
    }

    @Test("Tiles in a video, from many tasks")
    func tiles() async throws {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = .cpu
        options.fit = .tile
        let single = try ImageSegmenter(options: options, model: VulkanTests.model)
        options.runningMode = .video
        let segmenter = try ImageSegmenter(options: options, sharing: single)
        let picture = try VulkanTests.picture(width: 150, height: 50)
        let expected = try single.segment(image: picture).categoryMask
        let next = Counter()
        let sameCount = await withTaskGroup(of: Bool?.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    let timestamp = next.increment()
                    return try? segmenter.segment(videoFrame: picture, timestampInMilliseconds: timestamp).categoryMask
                        == expected
                }
            }
            return await group.reduce(into: 0) { $0 += $1 == false ? -100 : $1 == true ? 1 : 0 }
        }
        #expect(sameCount > 0)
    }
}

/// Counts up, for many tasks.
private final class Counter: Sendable {
    private let value = Atomic(0)
    func increment() -> Int { value.add(1, ordering: .relaxed).newValue }
}

@Suite("Orientation of pictures")
struct OrientedSegmentationTests {
    /// The orientation in which a picture is stored that `orientation` turned.
    private func inverse(_ orientation: Orientation) -> Orientation {
        switch orientation {
        case .left: .right
        case .right: .left
        default: orientation
        }
    }

    @Test("Masks are of the upright picture, in every mode", arguments: Orientation.allCases)
    func upright(orientation: Orientation) async throws {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = .cpu
        let picture = try VulkanTests.picture(width: 90, height: 50)
        let stored = picture.oriented(inverse(orientation))
        #expect(stored.size == picture.size.oriented(orientation))
        let segmenter = try ImageSegmenter(options: options, model: VulkanTests.model)
        let expected = try segmenter.segment(image: picture)
        let found = try segmenter.segment(image: stored, orientation: orientation)
        #expect(found.categoryMask == expected.categoryMask && found.size == picture.size)

        options.runningMode = .video
        let video = try ImageSegmenter(options: options, sharing: segmenter)
        let frame = try video.segment(videoFrame: stored, timestampInMilliseconds: 1, orientation: orientation)
        #expect(frame.categoryMask == expected.categoryMask)

        options.runningMode = .liveStream
        let live = try ImageSegmenter(options: options, sharing: segmenter)
        var results = live.liveStreamResults().makeAsyncIterator()
        try live.segmentAsync(image: stored, timestampInMilliseconds: 1, orientation: orientation)
        #expect(try await results.next()?.result.get().categoryMask == expected.categoryMask)
    }
}
