import Base
import Imaging
import PreviewProtocol
import Silhouette

/// What some settings ask for: the masks that the network is to give of each frame, all in one run, and the messages that are made
/// of them.
final class OutputPlan: Sendable {
    /// The settings as they were asked for.
    let settings: PreviewSettings
    /// The settings with the values in force in place of those that were left open.
    let filledSettings: PreviewSettings
    /// The device that frames are run on.
    let deviceID: String
    private let model: ServedModel
    /// Whose alpha is sent.
    private let chosen: ChosenClasses
    private let palette: Palette
    /// What overlays show of each class: itself, or the background.
    private let shownCategories: [UInt8]
    private let segmenter: ImageSegmenter
    /// What is known of the frames before, for mattes: a client's answers are made one after the other.
    private let edges = Locked(SteadyEdges())

    /// The version of the protocol that messages are of.
    var version: UInt8 { settings.version }

    /// Prepares to run frames.
    ///
    /// - Throws: `badSettings` where they name what is not there.
    init(_ settings: PreviewSettings, models: [ServedModel]) throws(ProtocolError) {
        guard let model = settings.model.map({ id in models.first { $0.id == id } }) ?? models.first else {
            throw .settings(
                "there is no model \(settings.model ?? ""); there are \(models.map(\.id).joined(separator: ", "))")
        }
        let classCount = model.labels.count
        if let absent = (settings.classes ?? []).first(where: { $0 >= classCount })
            ?? settings.overlay.colors.keys.first(where: { $0 >= classCount })
        {
            throw .settings("there is no class \(absent): the model has \(classCount)")
        }
        // A model that is named later and in use already is no other one.
        var settings = settings
        settings.model = model.id
        guard let prepared = model.segmenter(on: settings.device) else {
            throw .settings("the device \(settings.device ?? "") was not prepared")
        }
        deviceID = prepared.deviceID
        var filled = settings
        let chosen = settings.classes ?? model.foregroundClasses
        filled.classes = chosen
        self.settings = settings
        filledSettings = filled
        self.model = model
        self.chosen = ChosenClasses(chosen, classCount: classCount)
        var palette = model.palette
        if !settings.overlay.colors.isEmpty {
            palette.colors = model.labels.indices.map { palette[$0] }
            for (index, color) in settings.overlay.colors {
                palette.colors[index] = RGBColor(
                    red: UInt8(color >> 16 & 255), green: UInt8(color >> 8 & 255), blue: UInt8(color & 255))
            }
        }
        self.palette = palette
        shownCategories = (0..<256).map { settings.classes?.contains($0) ?? true ? UInt8($0) : 0 }

        var options = ImageSegmenterOptions()
        // Every mask has them, for the shares of the classes.
        options.shouldOutputCategoryMask = classCount <= 256
        if settings.outputs == [.overlay] {
            options.maskSize = .source
        } else {
            options.maskSize = .model
            options.shouldOutputPictureCategoryMask = settings.outputs.contains(.overlay)
            // Every class or none is chosen: 255 or 0 everywhere, and nothing to compute.
            // What has too many classes for a subject's map has a matte of confidences.
            let needsConfidences = settings.outputs.contains(.matte) && classCount > 256
            options.shouldOutputConfidenceMasks =
                (settings.outputs.contains(.alpha) || needsConfidences) && !self.chosen.summed.isEmpty
            options.confidenceClasses = options.shouldOutputConfidenceMasks ? ClassSelection(self.chosen.summed) : nil
            if settings.outputs.contains(.matte), classCount <= 256, !chosen.isEmpty {
                options.subjectClasses = ClassSelection(chosen)
                options.isSubjectMapOnly = true
            }
        }
        do throws(ImageSegmenterError) {
            segmenter = try ImageSegmenter(options: options, sharing: prepared)
        } catch {
            throw .settings("\(error)")
        }
    }

    /// Runs a frame through the network, once for everything that is asked of it.
    func segment(_ image: Image) throws(ImageSegmenterError) -> ImageSegmenterResult {
        try segmenter.segment(image: image)
    }

    /// What a frame's figures are made of.
    struct Figures: Sendable {
        var decodeMilliseconds: Double
        var totalMilliseconds: Double
        var droppedFrames: Int
    }

    /// What a frame is answered with before its figures.
    struct Answer {
        var messages: [PreviewMessage] = []
        /// Nil: there is no matte.
        var matteRadius: Int?
    }

    /// Makes the messages of a frame; frames come in their order.
    func answer(
        _ result: ImageSegmenterResult, of image: Image, sequence: UInt32, timestamp: UInt64
    ) throws -> Answer {
        var answer = Answer()
        func addMask(_ kind: MessageKind, _ mask: [UInt8], _ encoding: PayloadEncoding, _ size: PixelSize) {
            let payload = MaskCodec.encode(mask, as: encoding)
            let isShorter = payload.count < mask.count
            answer.messages.append(
                PreviewMessage(
                    kind, isShorter ? encoding : .plain, sequence: sequence, timestamp: timestamp,
                    width: UInt32(size.width), height: UInt32(size.height), payload: isShorter ? payload : mask))
        }
        if settings.outputs.contains(.categories), let mask = result.categoryMask {
            addMask(.categories, mask.categories, .runLength, result.size)
        }
        if settings.outputs.contains(.alpha) {
            let alpha = chosen.alpha(result.confidenceMasks ?? [], pixelCount: result.width * result.height)
            addMask(.alpha, alpha, .deflate, result.size)
        }
        if settings.outputs.contains(.matte) {
            let guide = guide(result, image)
            let size = guide?.picture.size ?? PixelSize(width: 1, height: 1)
            addMask(.matte, guide?.confidences.map { UInt8($0 * 255 + 0.5) } ?? [0], .deflate, size)
            answer.matteRadius = guide?.radius ?? 1
        }
        if settings.outputs.contains(.overlay), let mask = result.pictureCategoryMask ?? result.categoryMask {
            let shown = settings.classes == nil ? mask.categories : mask.categories.map { shownCategories[Int($0)] }
            let overlay = shown.withUnsafeBufferPointer {
                Compositing.overlay(
                    image, categories: $0, palette: palette, opacity: Float(settings.overlay.opacity))
            }
            let format: ImageFormat = settings.overlay.encoding == .webp ? .webp : .jpeg
            let file = try overlay.encoded(as: format, options: EncodingOptions(quality: 80), name: "overlay")
            answer.messages.append(
                PreviewMessage(
                    .overlay, settings.overlay.encoding, sequence: sequence, timestamp: timestamp,
                    width: UInt32(image.width), height: UInt32(image.height), payload: file))
        }
        return answer
    }

    /// What the edges of the chosen classes are drawn from, as in a film. Nil: no class is chosen.
    private func guide(_ result: ImageSegmenterResult, _ image: Image) -> EdgeGuide? {
        guard let map = result.subject ?? confidenceMap(result, image.size) else { return nil }
        let mask = settings.closesHoles ? result.categoryMask : nil
        return edges.withLock { edges in
            edges.guide(
                image, map, categories: mask.map { ($0.categories, $0.size) }, smoothing: Float(settings.smoothing))
        }
    }

    /// A map of confidences as they are.
    private func confidenceMap(_ result: ImageSegmenterResult, _ picture: PixelSize) -> SubjectMap? {
        guard let masks = result.confidenceMasks else { return nil }
        let scores = segmenter.modelOutput.scoreSize
        let alpha = chosen.alpha(masks, pixelCount: result.size.pixelCount)
        return SubjectMap(
            size: result.size, confidences: alpha.map { Float($0) / 255 },
            classes: [UInt8](repeating: 0, count: alpha.count),
            geometry: FitGeometry(.stretch, picture: picture, network: result.size),
            cell: max(
                Float(picture.width) / Float(scores.width), Float(picture.height) / Float(scores.height)))
    }

    /// The figures of a frame.
    func report(of result: ImageSegmenterResult, _ figures: Figures, matteRadius: Int?) -> ResultReport {
        var shares: [(classIndex: Int, share: Double)] = []
        if let mask = result.categoryMask {
            let total = Double(mask.categories.count)
            shares = mask.histogram(classCount: model.labels.count).enumerated().filter { $0.element > 0 }
                .sorted { $0.element > $1.element }.map { ($0.offset, Double($0.element) / total) }
        }
        return ResultReport(
            inferenceMilliseconds: result.timings.totalMilliseconds, decodeMilliseconds: figures.decodeMilliseconds,
            totalMilliseconds: figures.totalMilliseconds, shares: shares, droppedFrames: figures.droppedFrames,
            device: result.deviceName, matteRadius: matteRadius)
    }
}

extension OutputPlan {
    /// Whether frames come out the same way.
    func gives(theSameAs other: OutputPlan) -> Bool {
        var (mine, others) = (filledSettings, other.filledSettings)
        mine.maximumFramesPerSecond = nil
        others.maximumFramesPerSecond = nil
        return mine == others
    }
}
