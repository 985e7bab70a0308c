import WebProtocol
import Base
import Imaging
import PreviewProtocol
import Silhouette

/// `POST /api/segment`: a picture in, a mask or a picture of it out.
///
/// One after the other, and beside the pages' frames: each picture has its turn in the network among those, and everything else
/// gives way to them.
///
///     ?output=mask|overlay|cutout|composite|confidence   default: overlay; composite where a background is given
///     &class=NAME,NAME or &drop-class=NAME (labels or indices; or more than once)   &mask-size=source|model   &model=ID
///     &fit=stretch|letterbox|crop   &background=blur|gray|dim|#rrggbb|gradient:...   and the other `EffectSettings`
final class SegmentEndpoint: Sendable {
    /// What can be asked for.
    enum Output: String, CaseIterable {
        case mask
        case overlay
        case cutout
        case composite
        case confidence

        /// The formats in which it can be had, the usual one first.
        var formats: [ImageFormat] {
            switch self {
            case .mask, .confidence: [.png]
            case .overlay, .composite: [.jpeg, .png, .webp]
            case .cutout: [.png, .webp]
            }
        }
    }

    /// A request that makes sense.
    private struct Job: Sendable {
        var output: Output
        var format: ImageFormat
        var maskSize: MaskSize
        var model: ServedModel
        var fit: Fit
        var classes: [Int]?
        /// What is drawn, or gives a mask its edges. Nil: the network's masks are wanted.
        var effect: EffectOptions?
        /// Colours of the classes.
        var palette: Palette
    }

    private struct Refusal: Error {
        let response: HTTPResponse

        init(_ status: Int, _ line: String) { response = .text(status, line) }
    }

    /// Requests that are worked on or wait; more are told to come back.
    private static let waitingLimit = 8

    private let context: ServerContext
    private let queue: SerialQueue
    private let waiting = Locked(0)

    /// - Throws: `SystemError` where the system has no thread left.
    init(_ context: ServerContext) throws(SystemError) {
        self.context = context
        queue = try SerialQueue(name: "posts")
    }

    /// Why a request is refused before its body comes. Nil: it is not.
    func refusal(of request: HTTPRequest) -> HTTPResponse? {
        do throws(Refusal) {
            _ = try job(request)
        } catch {
            return error.response
        }
        guard waiting.withLock({ $0 }) < Self.waitingLimit else { return Self.busy }
        return nil
    }

    private static let parameterNames =
        ["output", "class", "drop-class", "mask-size", "model", "fit"] + EffectSettings.parameterNames

    private static let busy = HTTPResponse.text(503, "too many pictures wait", [("Retry-After", "1")])

    /// Segments a picture.
    func run(_ request: HTTPRequest, body: [UInt8], completion: @escaping @Sendable (HTTPResponse) -> Void) {
        let isAdmitted = waiting.withLock { waiting in
            guard waiting < Self.waitingLimit else { return false }
            waiting += 1
            return true
        }
        guard isAdmitted else { return completion(Self.busy) }
        queue.async { [self] in
            let response: HTTPResponse
            do throws(Refusal) {
                response = try respond(to: request, body: body)
            } catch {
                response = error.response
            }
            waiting.withLock { $0 -= 1 }
            completion(response)
        }
    }

    private func job(_ request: HTTPRequest) throws(Refusal) -> Job {
        if let unknown = request.query.first(where: {
            !Self.parameterNames.contains($0.name) && $0.name != "token"
        }) {
            throw Refusal(
                400, "there is no parameter '\(unknown.name)'; there are \(Self.parameterNames.joined(separator: ", "))"
            )
        }
        let settings: EffectSettings
        do throws(WordError) {
            settings = try EffectSettings(request)
        } catch {
            throw Refusal(400, error.description)
        }
        var output = settings.background == nil ? Output.overlay : .composite
        if let word = request.parameter("output") {
            guard let known = Output(rawValue: word) else {
                throw Refusal(400, "output is mask, overlay, cutout, composite or confidence, not '\(word)'")
            }
            output = known
        }
        var maskSize = MaskSize.source
        if let word = request.parameter("mask-size") {
            guard let known = MaskSize(rawValue: word) else {
                throw Refusal(400, "mask-size is source or model, not '\(word)'")
            }
            guard known == .source || output == .mask || output == .confidence else {
                throw Refusal(400, "mask-size=model goes with masks and confidences only")
            }
            maskSize = known
        }
        var fit = Fit.stretch
        if let word = request.parameter("fit") {
            guard let known = Fit(rawValue: word), known != .tile else {
                throw Refusal(400, "fit is stretch, letterbox or crop, not '\(word)'")
            }
            fit = known
        }
        guard maskSize == .source || settings.edgeOptions == nil else {
            throw Refusal(400, "mask-size=model does not go with edges, threshold and shift")
        }
        guard let format = Self.format(of: output, accepted: request.fields["accept"] ?? "*/*") else {
            throw Refusal(
                406,
                "\(output.rawValue) can be had as \(output.formats.map { "image/" + Self.word($0) }.joined(separator: ", "))"
            )
        }
        let id = request.parameter("model")
        guard let model = id == nil ? context.models.first : context.models.first(where: { $0.id == id }) else {
            throw Refusal(
                400, "there is no model '\(id ?? "")'; there are \(context.models.map(\.id).joined(separator: ", "))")
        }
        guard output != .composite || settings.background != nil else {
            throw Refusal(400, "output=composite needs background: \(EffectSettings.backgrounds)")
        }
        let classes = try classes(request, of: model)
        let colors: [Int: RGBColor]
        do throws(WordError) {
            colors = try settings.colors(of: model.labels)
            try settings.check(output.rawValue, mark: "")
        } catch {
            throw Refusal(400, error.description)
        }
        var background: Background?
        if case .plain(let plain, _) = settings.background { background = plain }
        let effect = settings.effect(output.rawValue, background: background, colors: colors)
        var palette = model.palette
        palette.recolor(colors)
        return Job(
            output: output, format: format, maskSize: maskSize, model: model, fit: fit, classes: classes,
            effect: effect.map {
                EffectOptions($0, classes: classes.map { ClassSelection($0) }, edges: settings.edgeOptions)
            }, palette: palette)
    }

    /// The classes that are asked for, or all but background and those that are not wanted. Nil: neither is said.
    private func classes(_ request: HTTPRequest, of model: ServedModel) throws(Refusal) -> [Int]? {
        func named(_ parameter: String) throws(Refusal) -> ClassSelection? {
            let texts = request.query.filter { $0.name == parameter }.map(\.value)
            guard !texts.isEmpty else { return nil }
            do throws(WordError) {
                return try ClassSelection(texts: texts)
            } catch {
                throw Refusal(400, "\(parameter) \(error)")
            }
        }
        let (kept, dropped) = (try named("class"), try named("drop-class"))
        guard kept == nil || dropped == nil else { throw Refusal(400, "class and drop-class: give one of them") }
        guard let selection = kept ?? dropped.map(ClassSelection.allBut) else { return nil }
        let classes: [Int]
        do throws(WordError) {
            classes = try selection.indices(in: model.labels)
        } catch {
            throw Refusal(400, error.description)
        }
        guard !classes.isEmpty else { throw Refusal(400, "drop-class leaves no class") }
        return classes
    }

    private static func word(_ format: ImageFormat) -> String { format == .jpeg ? "jpeg" : format.rawValue }

    /// The format that the client likes best. Nil: it takes none.
    private static func format(of output: Output, accepted: String) -> ImageFormat? {
        // A field without a type says nothing.
        guard accepted.contains(where: { !$0.isWhitespace && $0 != "," }) else { return output.formats.first }
        let wishes = accepted.split(separator: ",").compactMap { entry -> (type: String, quality: Double)? in
            let parts = entry.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
            guard let type = parts.first else { return nil }
            return (type, parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1)
        }
        var best: (format: ImageFormat, quality: Double)?
        for format in output.formats {
            // The closest name counts, also where it says that this one is not wanted: RFC 9110, 12.5.1.
            let names = ["image/" + word(format), "image/*", "*/*"]
            let wish = names.lazy.compactMap { name in wishes.first { $0.type == name } }.first
            if let quality = wish?.quality, quality > best?.quality ?? 0 { best = (format, quality) }
        }
        return best?.format
    }

    private func respond(to request: HTTPRequest, body: [UInt8]) throws(Refusal) -> HTTPResponse {
        let job = try job(request)
        let chosen = ChosenClasses(
            job.classes ?? job.model.foregroundClasses, classCount: job.model.labels.count)
        let memory = memory(job, chosen)
        let image = try runAtBackgroundPriority {
            Result { () throws(Refusal) in try picture(request, body, memory) }
        }.get()
        var options = ImageSegmenterOptions()
        options.maskSize = job.maskSize
        options.fit = job.fit
        options.shouldOutputCategoryMask = job.output != .confidence
        options.shouldOutputConfidenceMasks = job.output == .confidence
        if job.output == .confidence {
            options.confidenceClasses = chosen.summed.isEmpty ? [0] : ClassSelection(chosen.summed)
        }
        let file: [UInt8]
        do {
            let plain = try ImageSegmenter(options: options, sharing: job.model.segmenter)
            let renderer = try job.effect.map { effect throws(ImageSegmenterError) in
                try EffectRenderer(options: effect, segmenter: plain)
            }
            let segmenter = renderer?.segmenter ?? plain
            let pipeline = try context.pipeline(of: segmenter.deviceID)
            let work = BackgroundWork(onDevice: { pipeline.inTurn($0) }, inBackground: { runAtBackgroundPriority($0) })
            let result = try segmenter.segment(image: image, inBackground: work)
            file = try runAtBackgroundPriority {
                Result {
                    guard let renderer else { return try masks(job, chosen, result) }
                    guard job.output == .mask else { return try renderer.draw(image, result).encoded(as: job.format) }
                    return try mask(renderer.categoryMask(image, result), job)
                }
            }.get()
        } catch let error as ImageSegmenterError {
            switch error {
            case .resultTooLarge: throw Refusal(422, "\(error)")
            case .invalidOptions: throw Refusal(400, "\(error)")
            default: break
            }
            throw Refusal(500, "\(error)")
        } catch {
            throw Refusal(500, "\(error)")
        }
        return HTTPResponse(200, "image/" + Self.word(job.format), file)
    }

    private func memory(_ job: Job, _ chosen: ChosenClasses) -> PictureMemory {
        let output: PictureMemory.Output =
            switch job.output {
            case .mask: .categories(edges: job.effect?.drawnEdges)
            case .confidence: .confidences(count: max(1, chosen.summed.count), files: 1)
            case .overlay, .cutout, .composite: job.effect.map { .effect($0) } ?? .categories(edges: nil)
            }
        return PictureMemory(
            output, masks: job.maskSize, fit: job.fit, format: job.format, model: job.model.segmenter.modelOutput)
    }

    private func picture(
        _ request: HTTPRequest, _ body: [UInt8], _ memory: PictureMemory
    ) throws(Refusal) -> Image {
        let type = request.fields["content-type"] ?? ""
        var range = 0..<body.count
        if type.lowercased().hasPrefix("multipart/form-data") {
            do throws(MultipartError) {
                range = try Multipart.file(in: body, type: type)
            } catch {
                throw Refusal(400, error.reason)
            }
        }
        let limits = ImageLimits(maxPixels: context.options.limits.pixelCount)
        let decoded = body.withUnsafeBytes { bytes in
            Result { () throws(ImageError) in
                try ImageFile.decode(
                    UnsafeRawBufferPointer(rebasing: bytes[range]), name: "picture", limits: limits
                ) { claim throws(ImageError) in try check(claim, memory, requestByteCount: body.count) }
            }
        }
        do throws(ImageError) {
            return try decoded.get().image
        } catch {
            switch error.reason {
            case .tooManyPixels(let width, let height, let limit):
                throw Refusal(413, "\(width)x\(height) are more than \(limit) pixels, the limit of this server")
            case .tooMuchMemory(let width, let height, let needed, let available, _):
                throw Refusal(
                    422,
                    "\(width)x\(height) takes up to \(needed >> 20) MiB of memory here, of at most \(available >> 20); "
                        + "choose fewer classes, another output or format, mask-size=model, or a smaller picture")
            case .sideTooLong, .tooManyBytes: throw Refusal(413, error.reason.description)
            case .unknownContent, .unsupported: throw Refusal(415, error.reason.description)
            default: throw Refusal(422, error.reason.description)
            }
        }
    }

    /// Refuses a picture before its memory is taken.
    private func check(
        _ claim: PictureClaim, _ memory: PictureMemory, requestByteCount: Int
    ) throws(ImageError) {
        let needed = memory.byteCount(claim, keptByteCount: requestByteCount)
        let available = context.options.limits.pictureByteCount
        guard needed > available else {
            // The body is there already.
            return try ServerMemory.check(needed - requestByteCount, claim.size)
        }
        throw ImageError(
            "picture",
            .tooMuchMemory(
                width: claim.size.width, height: claim.size.height, needed: needed, available: available,
                bound: "this server"))
    }

    private func masks(
        _ job: Job, _ classes: ChosenClasses, _ result: ImageSegmenterResult
    ) throws -> [UInt8] {
        let size = PixelSize(width: result.width, height: result.height)
        if job.output == .confidence {
            let planes = classes.summed.isEmpty ? [] : result.confidenceMasks ?? []
            let alpha = classes.alpha(planes, pixelCount: size.pixelCount)
            return try Image(width: size.width, height: size.height, format: .gray, bytes: alpha).encoded(as: .png)
        }
        let shown = job.classes.map(Set.init)
        let categories = (result.categoryMask?.categories ?? []).map { shown?.contains(Int($0)) ?? true ? $0 : 0 }
        return try mask(CategoryMask(width: size.width, height: size.height, categories: categories), job)
    }

    private func mask(_ mask: CategoryMask, _ job: Job) throws -> [UInt8] {
        let image = try Image(width: mask.width, height: mask.height, format: .gray, bytes: mask.categories)
        return try image.encodedAsIndexedPNG(palette: job.palette)
    }
}
