import DeviceSupport
import Silhouette
import Testing

@Suite("Live stream")
struct LiveStreamTests {
    private func segmenter(_ engine: FakeEngine, _ delegate: RecordingDelegate? = nil) throws -> ImageSegmenter {
        var options = ImageSegmenterOptions()
        options.runningMode = .liveStream
        options.imageSegmenterLiveStreamDelegate = delegate
        return try ImageSegmenter(options: options, model: .named(["background", "person"]), engine: engine)
    }

    @Test("While a frame is processed the newest waiting one wins, and older ones are counted")
    func newestWins() async throws {
        let engine = FakeEngine()
        let delegate = RecordingDelegate()
        let segmenter = try segmenter(engine, delegate)
        try segmenter.segmentAsync(image: frame(width: 1), timestampInMilliseconds: 10)
        engine.waitForFrame()
        for width in 2...4 {
            try segmenter.segmentAsync(image: frame(width: width), timestampInMilliseconds: 10 * width)
        }
        #expect(segmenter.droppedFrameCount == 2)
        engine.allow()
        engine.waitForFrame()
        engine.allow()
        var reports = delegate.reports.makeAsyncIterator()
        #expect(await reports.next() == .init(timestamp: 10, width: 1))
        #expect(await reports.next() == .init(timestamp: 40, width: 4))
    }

    @Test("A refused timestamp harms no later frame")
    func refusedTimestamp() async throws {
        let engine = FakeEngine(isGated: false)
        let delegate = RecordingDelegate()
        let segmenter = try segmenter(engine, delegate)
        var reports = delegate.reports.makeAsyncIterator()
        try segmenter.segmentAsync(image: frame(width: 1), timestampInMilliseconds: 5)
        #expect(await reports.next() == .init(timestamp: 5, width: 1))
        #expect(
            throws: ImageSegmenterError.timestampNotIncreasing(
                timestampInMilliseconds: 5, lastTimestampInMilliseconds: 5)
        ) { try segmenter.segmentAsync(image: frame(width: 2), timestampInMilliseconds: 5) }
        try segmenter.segmentAsync(image: frame(width: 3), timestampInMilliseconds: 6)
        #expect(await reports.next() == .init(timestamp: 6, width: 3))
        #expect(segmenter.droppedFrameCount == 0)
    }

    @Test("A delegate is held weakly: the stream goes on without one that is gone")
    func weakDelegate() async throws {
        var delegate: RecordingDelegate? = RecordingDelegate()
        weak let held = delegate
        let segmenter = try segmenter(FakeEngine(isGated: false), delegate)
        delegate = nil
        #expect(held == nil && segmenter.options.imageSegmenterLiveStreamDelegate == nil)
        var results = segmenter.liveStreamResults().makeAsyncIterator()
        try segmenter.segmentAsync(image: frame(width: 2), timestampInMilliseconds: 1)
        #expect(await results.next()?.timestampInMilliseconds == 1)
    }

    @Test("A segmenter that is let go reports the frames that it has, and after that calls nobody")
    func letGo() async throws {
        let engine = FakeEngine()
        let delegate = RecordingDelegate()
        var segmenter: ImageSegmenter? = try segmenter(engine, delegate)
        weak let held = segmenter
        try segmenter?.segmentAsync(image: frame(width: 1), timestampInMilliseconds: 1)
        engine.waitForFrame()
        try segmenter?.segmentAsync(image: frame(width: 2), timestampInMilliseconds: 2)
        segmenter = nil
        #expect(held != nil)
        engine.allow(2)
        var reports = delegate.reports.makeAsyncIterator()
        #expect(await reports.next() == .init(timestamp: 1, width: 1))
        #expect(await reports.next() == .init(timestamp: 2, width: 2))
        while held != nil { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("A frame that fails is reported, and the next one is processed")
    func failure() async throws {
        let delegate = RecordingDelegate()
        let segmenter = try segmenter(FakeEngine(isGated: false, failingWidth: 1), delegate)
        var reports = delegate.reports.makeAsyncIterator()
        try segmenter.segmentAsync(image: frame(width: 1), timestampInMilliseconds: 1)
        #expect(await reports.next() == .init(timestamp: 1, error: .inferenceFailed("as the test asked")))
        try segmenter.segmentAsync(image: frame(width: 2), timestampInMilliseconds: 2)
        #expect(await reports.next() == .init(timestamp: 2, width: 2))
    }

    @Test("Results come as an asynchronous sequence, with timestamp and drops, until the segmenter is gone")
    func sequence() async throws {
        let engine = FakeEngine()
        var segmenter: ImageSegmenter? = try segmenter(engine)
        let results = try #require(segmenter).liveStreamResults()
        var iterator = results.makeAsyncIterator()
        try segmenter?.segmentAsync(image: frame(width: 1), timestampInMilliseconds: 1)
        engine.waitForFrame()
        try segmenter?.segmentAsync(image: frame(width: 2), timestampInMilliseconds: 2)
        try segmenter?.segmentAsync(image: frame(width: 3), timestampInMilliseconds: 3)
        engine.allow()
        let first = try #require(await iterator.next())
        #expect(first.timestampInMilliseconds == 1)
        #expect(first.droppedFrameCount == 1)
        #expect(try first.result.get().timestampInMilliseconds == 1)
        engine.waitForFrame()
        engine.allow()
        #expect(await iterator.next()?.timestampInMilliseconds == 3)
        segmenter = nil
        #expect(await iterator.next() == nil)
    }

    @Test("A slow reader of the sequence sees the newest result")
    func slowReader() async throws {
        let delegate = RecordingDelegate()
        let segmenter = try segmenter(FakeEngine(isGated: false), delegate)
        var iterator = segmenter.liveStreamResults().makeAsyncIterator()
        var reports = delegate.reports.makeAsyncIterator()
        for timestamp in 1...3 {
            try segmenter.segmentAsync(image: frame(width: timestamp), timestampInMilliseconds: timestamp)
            _ = await reports.next()
        }
        // The delegate is told before the sequence: the third result is in the sequence when a fourth is reported.
        try segmenter.segmentAsync(image: frame(width: 4), timestampInMilliseconds: 4)
        _ = await reports.next()
        let seen = try #require(await iterator.next()?.timestampInMilliseconds)
        #expect(seen >= 3)
    }

    @Test("Methods of the other running mode are refused")
    func runningModes() throws {
        let live = try segmenter(FakeEngine(isGated: false))
        #expect(throws: ImageSegmenterError.wrongRunningMode(needed: .image, actual: .liveStream)) {
            try live.segment(image: frame(width: 1))
        }
        let single = try ImageSegmenter(
            options: ImageSegmenterOptions(), model: .named(["background"]), engine: FakeEngine(isGated: false))
        #expect(throws: ImageSegmenterError.wrongRunningMode(needed: .liveStream, actual: .image)) {
            try single.segmentAsync(image: frame(width: 1), timestampInMilliseconds: 1)
        }
    }

    @Test("Options that ask for nothing, or for a class that is not there, are refused")
    func invalidOptions() {
        var nothing = ImageSegmenterOptions()
        nothing.shouldOutputCategoryMask = false
        #expect(throws: ImageSegmenterError.self) {
            try ImageSegmenter(options: nothing, model: .named(["a"]), engine: FakeEngine())
        }
        var absent = ImageSegmenterOptions()
        absent.confidenceClasses = [0, 2]
        #expect(
            throws: ImageSegmenterError.invalidOptions("class 2 does not exist: the model has 2 classes")
        ) { try ImageSegmenter(options: absent, model: .named(["a", "b"]), engine: FakeEngine()) }
    }
}

extension ModelOutput {
    /// Of a model that only names its classes.
    static func named(_ labels: [String]) -> ModelOutput {
        ModelOutput(labels: labels, channels: labels.count, size: PixelSize(width: 1, height: 1))
    }
}
