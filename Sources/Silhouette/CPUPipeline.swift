import CPUBackend
import ModelGraph

/// The steps from a picture to its masks, and all memory that they need.
///
///     picture --resize, normalise--> input --network--> scores --sample at the masks' size--> masks
///
/// The network runs on any backend, all else on the processor.
final class CPUPipeline {
    let network: CPUNetwork
    /// What the network runs on, for people.
    let deviceName: String
    private let options: ImageSegmenterOptions
    private let classes: [Int]
    private let normalization: Normalization
    private var bytes: [UInt8]
    /// Confidence masks that one pass over the scores fills.
    private static let planesAtOnce = 256
    /// For the size of picture that came last.
    private var plan: PicturePlan?

    /// - Parameter backend: Runs the network. Nil: the processor.
    init(model: Model, options: ImageSegmenterOptions, on backend: (any InferenceBackend)? = nil)
        throws(ImageSegmenterError)
    {
        guard !options.shouldOutputCategoryMask || model.labels.count <= 256 else {
            throw .invalidOptions(
                "the model has \(model.labels.count) classes, and a category mask holds 256; "
                    + "ask for confidence masks or scores")
        }
        do {
            network = try CPUNetwork(model: model, threads: options.baseOptions.threadCount, on: backend)
        } catch {
            throw .unusableDevice("\(error)")
        }
        deviceName = backend?.deviceName ?? network.backend.deviceName
        self.options = options
        classes = options.confidenceClasses ?? Array(model.labels.indices)
        normalization = Normalization(model.input)
        bytes = [UInt8](repeating: 0, count: model.input.shape.elementCount)
    }

    func segment(_ image: Image) throws(ImageSegmenterError) -> Masks {
        let clock = ContinuousClock()
        let start = clock.now
        let plan = try plan(for: image.size)
        image.withView { view in
            bytes.withUnsafeMutableBufferPointer { plan.preprocessor.prepare(view, into: $0) }
        }
        bytes.withUnsafeBufferPointer { normalization.apply($0, into: network.input.mutableValues) }
        let prepared = clock.now
        do {
            try network.run()
        } catch {
            throw .inferenceFailed("\(error)")
        }
        let computed = clock.now
        var masks = makeMasks(plan)
        masks.timings = Timings(
            preprocessMilliseconds: (prepared - start) / .milliseconds(1),
            inferenceMilliseconds: (computed - prepared) / .milliseconds(1),
            postprocessMilliseconds: (clock.now - computed) / .milliseconds(1))
        return masks
    }

    private func makeMasks(_ plan: PicturePlan) -> Masks {
        let (width, height) = (plan.masks.width, plan.masks.height)
        let scores = network.scores.values
        var masks = Masks(
            width: width, height: height, deviceName: deviceName,
            timings: Timings(preprocessMilliseconds: 0, inferenceMilliseconds: 0, postprocessMilliseconds: 0))
        if options.shouldOutputCategoryMask {
            let categories = [UInt8](unsafeUninitializedCapacity: width * height) { buffer, initialized in
                plan.sampler.categories(scores, into: UnsafeMutableBufferPointer(rebasing: buffer[..<(width * height)]))
                initialized = width * height
            }
            masks.categories = CategoryMask(width: width, height: height, categories: categories)
        }
        if options.shouldOutputConfidenceMasks {
            // Some at a time: `arrays` goes one call deeper for each, and a model may have thousands of classes.
            masks.confidences = stride(from: 0, to: classes.count, by: Self.planesAtOnce).flatMap { start in
                let classes = Array(classes[start..<min(start + Self.planesAtOnce, classes.count)])
                let planes = arrays(classes.count, of: width * height) { buffers in
                    plan.sampler.confidences(scores, classes: classes, into: buffers)
                }
                return zip(classes, planes).map {
                    ConfidenceMask(classIndex: $0, width: width, height: height, confidences: $1)
                }
            }
        }
        if options.shouldOutputScores {
            let channels = network.scoreShape.channels
            let values = arrays(1, of: width * height * channels) { plan.sampler.scores(scores, into: $0[0]) }
            masks.scores = ScoreMap(width: width, height: height, channels: channels, values: values[0])
        }
        return masks
    }

    private func plan(for picture: PixelSize) throws(ImageSegmenterError) -> PicturePlan {
        if let plan, plan.preprocessor.geometry.picture == picture { return plan }
        let masks: PixelSize
        switch options.maskSize {
        case .source: masks = picture
        case .model: masks = PixelSize(width: network.outputExtent.width, height: network.outputExtent.height)
        }
        try requireRoom(for: masks)
        let plan = PicturePlan(picture: picture, masks: masks, network: network, options: options)
        self.plan = plan
        return plan
    }

    /// Checks the size of floating-point results before memory is taken for them.
    private func requireRoom(for masks: PixelSize) throws(ImageSegmenterError) {
        let planes =
            (options.shouldOutputConfidenceMasks ? classes.count : 0)
            + (options.shouldOutputScores ? network.scoreShape.channels : 0)
        let byteCount = masks.pixelCount * planes * MemoryLayout<Float>.size
        guard byteCount <= ImageSegmenter.resultByteLimit else {
            throw .resultTooLarge(width: masks.width, height: masks.height, channels: planes, byteCount: byteCount)
        }
    }
}

/// What is prepared for pictures of one size.
private struct PicturePlan {
    let preprocessor: Preprocessor
    let masks: PixelSize
    let sampler: ScoreSampler

    init(picture: PixelSize, masks: PixelSize, network: CPUNetwork, options: ImageSegmenterOptions) {
        preprocessor = Preprocessor(for: network.model.input, picture: picture, fit: options.fit)
        self.masks = masks
        sampler =
            switch options.maskSize {
            case .source: network.sampler(for: preprocessor.geometry)
            case .model: network.sampler()
            }
    }
}

/// Arrays of `length` floats, all filled by one call of `body`.
private func arrays(
    _ count: Int, of length: Int, filledBy body: ([UnsafeMutableBufferPointer<Float>]) -> Void
) -> [[Float]] {
    var arrays: [[Float]] = []
    func add(_ buffers: [UnsafeMutableBufferPointer<Float>]) {
        guard buffers.count < count else { return body(buffers) }
        // The deeper calls fill this array's memory before this one says that it is initialised.
        let array = [Float](unsafeUninitializedCapacity: length) { buffer, initialized in
            add(buffers + [UnsafeMutableBufferPointer(rebasing: buffer[..<length])])
            initialized = length
        }
        arrays.append(array)
    }
    add([])
    return arrays.reversed()
}
