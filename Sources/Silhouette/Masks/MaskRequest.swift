import ModelGraph

/// What a model gives: all that a request for masks must know of it.
package struct ModelOutput: Hashable, Sendable {
    /// Names of the classes, by index.
    package let labels: [String]
    /// Values of the network's output at each pixel.
    package let channels: Int
    /// Size of the network's output.
    package let size: PixelSize
    /// A colour for each class.
    package let palette: Palette
    /// Size of the network's input.
    package let inputSize: PixelSize
    /// Size of the scores before the network's trailing resizes.
    package let scoreSize: PixelSize
    /// Whether a soft-max, or a sigmoid of a single channel, makes confidences of the values.
    package let isLogits: Bool

    /// Creates a description; the palette is VOC's where none is given.
    ///
    /// - Parameters:
    ///   - inputSize: That of the output when nil.
    ///   - scoreSize: That of the output when nil.
    package init(
        labels: [String], channels: Int, size: PixelSize, palette: Palette? = nil, inputSize: PixelSize? = nil,
        scoreSize: PixelSize? = nil, isLogits: Bool = true
    ) {
        self.labels = labels
        self.palette = palette ?? .voc(count: labels.count)
        self.channels = channels
        self.size = size
        self.inputSize = inputSize ?? size
        self.scoreSize = scoreSize ?? size
        self.isLogits = isLogits
    }

    /// Describes a model.
    package init(_ model: Model) {
        let output = model.graph.shape(of: model.graph.outputs[0])
        let (trunk, head) = model.graph.separatingHead()
        let scores = trunk.shape(of: trunk.outputs[0])
        self.init(
            labels: model.labels, channels: output.channels,
            size: PixelSize(width: output.width, height: output.height), palette: Palette(of: model),
            inputSize: PixelSize(width: model.input.width, height: model.input.height),
            scoreSize: PixelSize(width: scores.width, height: scores.height),
            isLogits: model.outputKind == .logits && head.activation == .none)
    }
}

/// Which masks are wanted of a model, checked, and how much memory they take.
package struct MaskRequest: Hashable, Sendable {
    /// Whether a category mask is wanted.
    let wantsCategories: Bool
    /// Whether a category mask of the picture's size is wanted besides.
    let wantsPictureCategories: Bool
    /// Whether that one stands for the other masks: a map of the subject is of the model's size, and masks of the picture's are
    /// asked for beside it.
    let isAtPictureSize: Bool
    /// Whether confidence masks are wanted.
    let wantsConfidences: Bool
    /// Whether the network's raw output is wanted.
    let wantsScores: Bool
    /// Classes that are the subject, where a map of it is wanted, ascending.
    let subjectClasses: [Int]?
    /// Classes of the confidence masks, none where there are to be none.
    let confidenceClasses: [Int]
    /// Whose size the masks have.
    let size: MaskSize
    /// How the picture is brought into the network's rectangle.
    private(set) var fit: Fit
    /// What the masks are made of.
    let output: ModelOutput

    /// Confidence masks that one call fills.
    private static let planesAtOnce = 256

    /// - Throws: `invalidOptions`.
    package init(_ options: ImageSegmenterOptions, of output: ModelOutput) throws(ImageSegmenterError) {
        let labels = output.labels
        guard !(options.shouldOutputCategoryMask || options.shouldOutputPictureCategoryMask) || labels.count <= 256
        else {
            throw .invalidOptions(
                "the model has \(labels.count) classes, and a category mask holds 256; "
                    + "ask for confidence masks or scores")
        }
        let confidences: [Int]?
        let subject: [Int]?
        do throws(WordError) {
            confidences = try options.confidenceClasses?.indices(in: labels)
            subject = try options.subjectClasses?.indices(in: labels).sorted()
        } catch {
            throw .invalidOptions(error.description)
        }
        if let subject {
            guard labels.count <= 256 else {
                throw .invalidOptions(
                    "the model has \(labels.count) classes, and a subject can be cut out of at most 256")
            }
            guard !subject.isEmpty else { throw .invalidOptions("no class is chosen for the subject") }
            guard options.maskSize == .model || !options.shouldOutputConfidenceMasks && !options.shouldOutputScores
            else {
                throw .invalidOptions(
                    "confidence masks and scores beside a subject have the network's size only: set maskSize to model")
            }
        }
        guard
            options.shouldOutputCategoryMask || options.shouldOutputPictureCategoryMask
                || options.shouldOutputConfidenceMasks || options.shouldOutputScores
                || options.subjectClasses != nil
        else { throw .invalidOptions("neither a category mask nor confidence masks nor scores are asked for") }
        let hasMasks =
            options.shouldOutputCategoryMask || options.shouldOutputConfidenceMasks || options.shouldOutputScores
        guard options.fit != .tile || options.maskSize == .source || !hasMasks else {
            throw .invalidOptions(
                "the fit tile has masks of the picture's size only: the network has one for each tile")
        }
        if let side = options.tileSide {
            guard options.fit == .tile else {
                throw .invalidOptions("a tile's side says nothing to the fit \(options.fit.rawValue)")
            }
            guard side > 0 else { throw .invalidOptions("a tile's side of \(side) pixels") }
        }
        isAtPictureSize = subject != nil && options.maskSize == .source
        wantsCategories = options.shouldOutputCategoryMask && !isAtPictureSize
        wantsPictureCategories =
            options.shouldOutputPictureCategoryMask || subject != nil && !options.isSubjectMapOnly
        wantsConfidences = options.shouldOutputConfidenceMasks
        wantsScores = options.shouldOutputScores
        subjectClasses = subject
        confidenceClasses = wantsConfidences ? confidences ?? Array(labels.indices) : []
        size = isAtPictureSize ? .model : options.maskSize
        fit = options.fit
        self.output = output
    }

    /// Whether each class belongs to the subject.
    var isSubject: [Bool] {
        var marks = [Bool](repeating: false, count: output.labels.count)
        for index in subjectClasses ?? [] { marks[index] = true }
        return marks
    }

    /// The same for a picture that is a single tile.
    var stretched: MaskRequest {
        var request = self
        request.fit = .stretch
        return request
    }

    /// A request for the scores of one tile at the network's size.
    ///
    /// - Throws: Nothing that this request did not.
    func forTiles() throws(ImageSegmenterError) -> MaskRequest {
        var options = ImageSegmenterOptions()
        options.shouldOutputCategoryMask = false
        options.shouldOutputScores = true
        options.maskSize = .model
        return try MaskRequest(options, of: output)
    }

    /// Floating-point values of the masks at each pixel.
    var valuesPerPixel: Int {
        confidenceClasses.count + (wantsScores || subjectClasses != nil ? output.channels : 0)
    }

    /// Size of the masks of a picture.
    ///
    /// - Throws: `resultTooLarge`, before memory is taken for floating-point results.
    func maskSize(of picture: PixelSize) throws(ImageSegmenterError) -> PixelSize {
        let size = size == .source ? picture : output.size
        let planes = valuesPerPixel
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
        if wantsCategories { masks.categories = CategoryMask(size, filledBy: categories) }
        if wantsConfidences {
            // Some at a time: `arrays` goes one call deeper for each, and a model may have thousands of classes.
            masks.confidences = stride(from: 0, to: confidenceClasses.count, by: Self.planesAtOnce).flatMap { start in
                let part = start..<min(start + Self.planesAtOnce, confidenceClasses.count)
                let planes = arrays(part.count, of: width * height) { confidences(part, $0) }
                return zip(confidenceClasses[part], planes).map {
                    ConfidenceMask(classIndex: $0, width: width, height: height, confidences: $1)
                }
            }
        }
        if wantsScores {
            masks.scores = ScoreMap(size, channels: output.channels, filledBy: scores)
        }
        return masks
    }
}

extension CategoryMask {
    /// A mask whose every pixel `fill` sets.
    init(_ size: PixelSize, filledBy fill: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        let count = size.pixelCount
        let categories = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
            initialized = count
        }
        self.init(width: size.width, height: size.height, categories: categories)
    }
}

extension ScoreMap {
    /// A map whose every value `fill` sets.
    init(_ size: PixelSize, channels: Int, filledBy fill: (UnsafeMutableBufferPointer<Float>) -> Void) {
        let values = arrays(1, of: size.pixelCount * channels) { fill($0[0]) }
        self.init(width: size.width, height: size.height, channels: channels, values: values[0])
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
