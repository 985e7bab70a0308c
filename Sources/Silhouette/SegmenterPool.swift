import Base
import CPUBackend
import ModelGraph

/// Segmenters for many pictures: as many as there can be pictures worked on side by side.
///
///     let pool = try SegmenterPool(options: options, pictureCount: paths.count)
///     try pool.segment(paths) { path in
///         try ImageFile.read(path: path).image
///     } finish: { path, outcome in
///         print(path, try? outcome.get().result.deviceName)
///     }
///
/// On the processor each core has a picture of its own, so that none waits for another one in the middle of a network; a graphics
/// processor takes one after the other. The next pictures are read meanwhile. Results are those of a single segmenter.
public final class SegmenterPool: Sendable {
    /// The segmenters, of the same model and, but for their threads, the same options.
    public let segmenters: [ImageSegmenter]

    /// Pictures for which the memory of several networks pays.
    private static let leastPictureCount = 4
    /// More would each take the network's memory; and where there are many cores, one core takes long for a picture.
    private static let mostSegmenters = 4

    /// Loads the model and prepares the device.
    ///
    /// - Parameters:
    ///   - options: For single pictures. Where `threadCount` is set, the processor has one segmenter of so many threads.
    ///   - pictureCount: How many pictures there will be, as far as that is known.
    /// - Throws: As `ImageSegmenter(options:)`.
    public convenience init(
        options: ImageSegmenterOptions, pictureCount: Int = .max
    ) throws(ImageSegmenterError) {
        try self.init(options: options, model: Model(for: options.baseOptions), pictureCount: pictureCount)
    }

    /// Prepares the device for a model that is loaded already.
    package init(
        options: ImageSegmenterOptions, model: Model, pictureCount: Int
    ) throws(ImageSegmenterError) {
        let device = try DeviceChoice(options.baseOptions.device)
        var options = options
        var count = 1
        if case .processor = device.outcome, options.baseOptions.threadCount == nil,
            pictureCount >= Self.leastPictureCount
        {
            let cores = CPUBackend.processorCount
            // Each has the network's memory.
            let affordable = max(1, model.memoryLimit / max(1, model.memory.byteCount()))
            count = min(cores, Self.mostSegmenters, pictureCount / 2, affordable)
            if count > 1 { options.baseOptions.threadCount = cores / count }
        }
        var segmenters: [ImageSegmenter] = []
        for _ in 0..<count {
            segmenters.append(try ImageSegmenter(options: options, model: model, on: device))
        }
        self.segmenters = segmenters
    }

    /// Reads and segments pictures.
    ///
    /// A picture that fails does not stop the others. At most three pictures for each segmenter, and two more, are in memory at a
    /// time.
    ///
    /// - Parameters:
    ///   - inputs: What the pictures come from.
    ///   - read: Gives an input's picture. Called on a thread of its own.
    ///   - finish: Takes each input's picture and result, or what went wrong, in the order of the inputs. Called on the calling
    ///     thread, while other pictures are worked on.
    /// - Throws: What the system says where it has no threads left. Nothing has been read then.
    public func segment<Input: Sendable>(
        _ inputs: [Input], read: @escaping @Sendable (Input) throws -> Image,
        finish: (Input, Result<(image: Image, result: ImageSegmenterResult), any Error>) -> Void
    ) throws {
        let next = inputs.handout
        try run {
            next().map { input in (input, Result { try read(input) }) }
        } segment: { segmenter, input in
            let (input, image) = input
            return (
                input,
                image.flatMap { image in
                    Result { (image: image, result: try segmenter.segment(image: image)) }
                }
            )
        } finish: { input, outcome in
            finish(input, outcome)
        }
    }

    /// Runs a stream of pictures through three stages that work side by side.
    ///
    /// - Parameters:
    ///   - read: Gives the next picture, with whatever belongs to it; nil at the end.
    ///   - segment: Works on it, with a segmenter that nobody else uses meanwhile.
    ///   - finish: Takes what became of it, in the order in which pictures were read. Called on the calling thread.
    package func run<Read: Sendable, Done: Sendable>(
        read: @escaping @Sendable () -> Read?, segment: @escaping @Sendable (ImageSegmenter, Read) -> Done,
        finish: (Done) -> Void
    ) throws(SystemError) {
        let segmenters = segmenters
        try runPipeline(workers: segmenters.count, first: read) { worker, value in
            segment(segmenters[worker], value)
        } third: { value in
            finish(value)
        }
    }
}
