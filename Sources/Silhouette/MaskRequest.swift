import ModelGraph

/// Which masks are wanted of a model, checked, and how much memory they take.
struct MaskRequest: Sendable {
    let options: ImageSegmenterOptions
    /// Classes of the confidence masks, none where there are to be none.
    let confidenceClasses: [Int]
    /// Values of the network's output at each pixel.
    let channels: Int
    /// Size of the network's output.
    let modelSize: PixelSize

    /// Confidence masks that one call fills.
    private static let planesAtOnce = 256

    /// - Throws: `invalidOptions`.
    init(_ options: ImageSegmenterOptions, of model: Model) throws(ImageSegmenterError) {
        guard !options.shouldOutputCategoryMask || model.labels.count <= 256 else {
            throw .invalidOptions(
                "the model has \(model.labels.count) classes, and a category mask holds 256; "
                    + "ask for confidence masks or scores")
        }
        self.options = options
        let output = model.graph.shape(of: model.graph.outputs[0])
        channels = output.channels
        modelSize = PixelSize(width: output.width, height: output.height)
        confidenceClasses =
            options.shouldOutputConfidenceMasks ? options.confidenceClasses ?? Array(model.labels.indices) : []
    }

    /// Size of the masks of a picture.
    ///
    /// - Throws: `resultTooLarge`, before memory is taken for floating-point results.
    func maskSize(of picture: PixelSize) throws(ImageSegmenterError) -> PixelSize {
        let size = options.maskSize == .source ? picture : modelSize
        let planes = confidenceClasses.count + (options.shouldOutputScores ? channels : 0)
        let byteCount = size.pixelCount * planes * MemoryLayout<Float>.size
        guard byteCount <= ImageSegmenter.resultByteLimit else {
            throw .resultTooLarge(width: size.width, height: size.height, channels: planes, byteCount: byteCount)
        }
        return size
    }

    /// Makes the masks by calls that fill the memory of each.
    ///
    /// - Parameters:
    ///   - size: Size of the masks.
    ///   - categories: Fills a category mask.
    ///   - confidences: Fills a plane for each of a part of `confidenceClasses`, by their positions there.
    ///   - scores: Fills a score map.
    func makeMasks(
        _ size: PixelSize, deviceName: String, categories: (UnsafeMutableBufferPointer<UInt8>) -> Void,
        confidences: (Range<Int>, [UnsafeMutableBufferPointer<Float>]) -> Void,
        scores: (UnsafeMutableBufferPointer<Float>) -> Void
    ) -> Masks {
        let (width, height) = (size.width, size.height)
        var masks = Masks(
            width: width, height: height, deviceName: deviceName,
            timings: Timings(preprocessMilliseconds: 0, inferenceMilliseconds: 0, postprocessMilliseconds: 0))
        if options.shouldOutputCategoryMask {
            let values = [UInt8](unsafeUninitializedCapacity: width * height) { buffer, initialized in
                categories(UnsafeMutableBufferPointer(rebasing: buffer[..<(width * height)]))
                initialized = width * height
            }
            masks.categories = CategoryMask(width: width, height: height, categories: values)
        }
        if options.shouldOutputConfidenceMasks {
            // Some at a time: `arrays` goes one call deeper for each, and a model may have thousands of classes.
            masks.confidences = stride(from: 0, to: confidenceClasses.count, by: Self.planesAtOnce).flatMap { start in
                let part = start..<min(start + Self.planesAtOnce, confidenceClasses.count)
                let planes = arrays(part.count, of: width * height) { confidences(part, $0) }
                return zip(confidenceClasses[part], planes).map {
                    ConfidenceMask(classIndex: $0, width: width, height: height, confidences: $1)
                }
            }
        }
        if options.shouldOutputScores {
            let values = arrays(1, of: width * height * channels) { scores($0[0]) }
            masks.scores = ScoreMap(width: width, height: height, channels: channels, values: values[0])
        }
        return masks
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
