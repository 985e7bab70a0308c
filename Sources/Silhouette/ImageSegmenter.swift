import Base
import ModelGraph

/// Finds the class of every pixel of a picture.
///
///     let segmenter = try ImageSegmenter(modelPath: "deeplabv3_257_mv_gpu.safetensors")
///     let result = try segmenter.segment(image: ImageFile.read(path: "photo.jpg").image)
///     if let mask = result.categoryMask { print(segmenter.labels[Int(mask[x, y])]) }
///
/// One segmenter may be used from any number of tasks and threads. On the processor it runs one picture at a time; the
/// others wait.
/// All memory but the results' is taken once for each size of picture, so a stream of frames of one size takes none.
///
/// Names follow MediaPipe's Image Segmenter for Swift. One difference: in a live stream the newest waiting frame is
/// run and older ones are dropped, where MediaPipe drops the new one.
public final class ImageSegmenter: Sendable {
    /// Bytes that the floating-point planes of one result may take: 4 GiB.
    public static let resultByteLimit = 4 << 30

    /// Names of the classes, by index.
    public var labels: [String] { model.labels }
    /// A colour for each class: the model's own, or else PASCAL VOC's.
    public var palette: Palette { model.palette }
    /// The settings it was made with.
    public let options: ImageSegmenterOptions
    /// What the network runs on: `CPU (AVX2, 2 threads)`.
    public var deviceName: String { engine.deviceName }
    /// Why it runs on that: `no graphics processor was found`.
    public let deviceReason: String
    /// The device that was chosen, as `-d` takes it: `vulkan:0`.
    package let deviceID: String
    /// Why pictures are computed on the processor though a graphics processor was chosen: what went wrong with that. Nil:
    /// nothing has.
    public var deviceFailure: String? { engine.deviceFailure }
    /// Which variants of its shaders the device has found to be the fastest, in words. Nil: it has not looked.
    public var deviceTuning: String? { engine.deviceTuning }

    private let engine: any SegmentationEngine
    /// What its masks are made of.
    package var modelOutput: ModelOutput { model }
    private let model: ModelOutput
    private let request: MaskRequest
    /// Nil: pictures are not divided into tiles.
    private let tiles: TiledSegmentation?
    private let videoOrder = Locked(TimestampOrder())
    private let mailbox = Locked(NewestMailbox<WaitingFrame>())
    private let listeners = Locked(Listeners())

    /// Loads the model and prepares the device.
    ///
    /// - Throws: `noModel`, `unusableModel`, `unusableDevice` or `invalidOptions`.
    public convenience init(options: ImageSegmenterOptions) throws(ImageSegmenterError) {
        try self.init(options: options, model: Model(for: options.baseOptions))
    }

    /// Prepares the device for a model that is loaded already.
    ///
    /// - Parameter device: The choice that the options lead to, where it has been made. Nil: it is made here.
    package convenience init(
        options: ImageSegmenterOptions, model: Model, on device: DeviceChoice? = nil
    ) throws(ImageSegmenterError) {
        let output = ModelOutput(model)
        // What cannot be asked for is refused before a device is prepared.
        _ = try MaskRequest(options, of: output)
        let choice = try EngineChoice(model: model, options: options.baseOptions, on: device)
        try self.init(
            options: options, model: output, engine: choice.engine, deviceID: choice.deviceID,
            deviceReason: choice.reason)
    }

    /// Creates a segmenter with options of its own on the model and the device of another one.
    ///
    /// The two share all memory but their results', and take turns on the device. Each has its own live stream.
    ///
    /// - Parameter options: `baseOptions` are those of `other`.
    /// - Throws: `invalidOptions`.
    public convenience init(options: ImageSegmenterOptions, sharing other: ImageSegmenter) throws(ImageSegmenterError) {
        var options = options
        options.baseOptions = other.options.baseOptions
        try self.init(
            options: options, model: other.model, engine: other.engine, deviceID: other.deviceID,
            deviceReason: other.deviceReason)
    }

    /// Loads a model, with defaults for everything else.
    public convenience init(modelPath: String) throws(ImageSegmenterError) {
        var options = ImageSegmenterOptions()
        options.baseOptions.modelAssetPath = modelPath
        try self.init(options: options)
    }

    /// Creates a segmenter on any engine.
    package init(
        options: ImageSegmenterOptions, model: ModelOutput, engine: any SegmentationEngine, deviceID: String = "",
        deviceReason: String = "chosen by the caller"
    ) throws(ImageSegmenterError) {
        let request = try MaskRequest(options, of: model)
        self.request = request
        tiles =
            options.fit == .tile
            ? try TiledSegmentation(request, side: options.tileSide, threads: options.baseOptions.threadCount) : nil
        self.options = options
        self.model = model
        self.engine = engine
        self.deviceID = deviceID
        self.deviceReason = deviceReason
    }

    deinit { listeners.withLock { $0.finish() } }

    /// Segments one picture and waits for the result.
    ///
    /// - Parameters:
    ///   - image: Any size and channel order. Transparent parts count as white.
    ///   - orientation: How the picture is stored. It is turned upright first, and masks are those of the upright picture: where
    ///     the orientation swaps the sides, so do they.
    /// - Throws: `wrongRunningMode`, `resultTooLarge`, `tooManyTiles` or `inferenceFailed`.
    public func segment(
        image: Image, orientation: Orientation = .up
    ) throws(ImageSegmenterError) -> ImageSegmenterResult {
        try require(.image)
        return try run(image.oriented(orientation))
    }

    /// Segments one frame of a video and waits for the result, which carries the frame's timestamp.
    ///
    /// Every frame is segmented alone, so a video has the masks that its frames have as pictures.
    ///
    /// - Parameters:
    ///   - image: The frame, as for `segment(image:orientation:)`.
    ///   - timestampInMilliseconds: Later than that of every frame before it.
    ///   - orientation: How the frame is stored, as for `segment(image:orientation:)`.
    /// - Throws: `wrongRunningMode`, or `timestampNotIncreasing`; the video goes on as if the call had not been made. Else as
    ///   `segment(image:orientation:)`; a frame that failed has had its time.
    public func segment(
        videoFrame image: Image, timestampInMilliseconds: Int, orientation: Orientation = .up
    ) throws(ImageSegmenterError) -> ImageSegmenterResult {
        try require(.video)
        try videoOrder.withLock { order throws(ImageSegmenterError) in try order.accept(timestampInMilliseconds) }
        var result = try run(image.oriented(orientation))
        result.timestampInMilliseconds = timestampInMilliseconds
        return result
    }

    /// Hands in a frame of a live stream and returns at once.
    ///
    /// While a frame is being processed the newest waiting one wins: older ones are dropped and counted.
    ///
    /// - Parameters:
    ///   - image: The frame, as for `segment(image:orientation:)`.
    ///   - timestampInMilliseconds: Later than that of every frame before it.
    ///   - orientation: How the frame is stored, as for `segment(image:orientation:)`.
    /// - Throws: `wrongRunningMode`, or `timestampNotIncreasing`; the stream goes on as if the call had not been made.
    ///   `inferenceFailed` where the system has no thread for it; the frame has had its time, and with the next one it is tried
    ///   again.
    public func segmentAsync(
        image: Image, timestampInMilliseconds: Int, orientation: Orientation = .up
    ) throws(ImageSegmenterError) {
        try require(.liveStream)
        let wakes = try mailbox.withLock { mailbox throws(ImageSegmenterError) in
            try mailbox.post(WaitingFrame(image: image, orientation: orientation), timestamp: timestampInMilliseconds)
        }
        guard wakes else { return }
        do throws(SystemError) {
            // It ends when no frame waits any more, so there is one at a time.
            try SystemThread(name: "live stream") { self.processFrames() }.detach()
        } catch {
            mailbox.withLock { $0.giveUp() }
            throw .inferenceFailed(error.description)
        }
    }

    /// Frames of the live stream that a newer one replaced.
    public var droppedFrameCount: Int { mailbox.withLock { $0.droppedFrameCount } }

    /// The results of a live stream, from now on and as long as the segmenter lives.
    ///
    /// A reader that is slower than the network sees the newest result; those in between are passed over.
    public func liveStreamResults() -> AsyncStream<LiveStreamResult> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveStreamResult.self, bufferingPolicy: .bufferingNewest(1))
        let key = listeners.withLock { $0.add(continuation) }
        continuation.onTermination = { [weak self] _ in self?.listeners.withLock { $0.remove(key) } }
        return stream
    }

    private func require(_ mode: RunningMode) throws(ImageSegmenterError) {
        guard options.runningMode == mode else { throw .wrongRunningMode(needed: mode, actual: options.runningMode) }
    }

    /// Segments one picture that can wait and waits for the result, as `segment(image:)` does.
    package func segment(
        image: Image, inBackground work: BackgroundWork
    ) throws(ImageSegmenterError) -> ImageSegmenterResult {
        try require(.image)
        guard let tiles else { return result(try engine.segment(image, request, inBackground: work)) }
        return result(
            try tiles.segment(image, blend: work.callInBackground) { image, request throws(ImageSegmenterError) in
                try engine.segment(image, request, inBackground: work)
            })
    }

    /// Draws pictures on the segmenter's device.
    package var drawer: any PictureDrawer { engine.drawer }

    private func run(_ image: Image) throws(ImageSegmenterError) -> ImageSegmenterResult {
        guard let tiles else { return result(try engine.segment(image, request)) }
        return result(
            try tiles.segment(image) { image, request throws(ImageSegmenterError) in try engine.segment(image, request)
            })
    }

    private func result(_ masks: Masks) -> ImageSegmenterResult {
        var result = ImageSegmenterResult(
            categoryMask: masks.categories, pictureCategoryMask: masks.pictureCategories,
            confidenceMasks: masks.confidences, scores: masks.scores, subject: masks.subject,
            subjectClasses: request.subjectClasses, labels: labels, width: masks.width, height: masks.height,
            timings: masks.timings, deviceName: masks.deviceName)
        if request.isAtPictureSize, let mask = masks.pictureCategories {
            (result.width, result.height) = (mask.width, mask.height)
            if options.shouldOutputCategoryMask { result.categoryMask = mask }
        }
        return result
    }

    /// Runs frames until none waits.
    private func processFrames() {
        while let (frame, timestamp) = mailbox.withLock({ $0.take() }) {
            let outcome = Result { () throws(ImageSegmenterError) in
                var result = try run(frame.image.oriented(frame.orientation))
                result.timestampInMilliseconds = timestamp
                return result
            }
            let failure: ImageSegmenterError? = if case .failure(let error) = outcome { error } else { nil }
            options.imageSegmenterLiveStreamDelegate?.imageSegmenter(
                self, didFinishSegmentation: try? outcome.get(), timestampInMilliseconds: timestamp, error: failure)
            let event = LiveStreamResult(
                timestampInMilliseconds: timestamp, result: outcome, droppedFrameCount: droppedFrameCount)
            listeners.withLock { $0.yield(event) }
        }
    }
}

extension Model {
    /// Finds and loads the model that options ask for.
    init(for options: BaseOptions) throws(ImageSegmenterError) {
        let path = try ModelLocator().locate(options.modelAssetPath).path
        do throws(ModelError) {
            try self.init(path: path, memoryLimit: options.modelMemoryLimit, threadCount: options.threadCount)
        } catch {
            let hint = error.isPastMemoryLimit ? "; BaseOptions.modelMemoryLimit raises it" : ""
            throw .unusableModel(path: path, reason: error.reason + hint)
        }
    }
}

/// A frame of a live stream. It is turned when its time has come, so that one that is dropped costs nothing.
private struct WaitingFrame: Sendable {
    var image: Image
    var orientation: Orientation
}

/// Those who read a live stream's results.
private struct Listeners {
    private var continuations: [Int: AsyncStream<LiveStreamResult>.Continuation] = [:]
    private var nextKey = 0

    mutating func add(_ continuation: AsyncStream<LiveStreamResult>.Continuation) -> Int {
        defer { nextKey += 1 }
        continuations[nextKey] = continuation
        return nextKey
    }

    mutating func remove(_ key: Int) { continuations[key] = nil }

    func yield(_ event: LiveStreamResult) { continuations.values.forEach { $0.yield(event) } }

    func finish() { continuations.values.forEach { $0.finish() } }
}
