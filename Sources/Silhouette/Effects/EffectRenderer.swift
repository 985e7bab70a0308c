import Base

/// Makes pictures of pictures: overlays, cut-outs, new backgrounds.
///
///     let options = EffectOptions(.composite(.blur(radius: 12)), classes: ["person"])
///     let renderer = try EffectRenderer(options: options, segmenter: segmenter)
///     let portrait = try renderer.render(image: photo)
///
/// Where masks of the same picture are wanted as well, or several effects, one run of the network is enough for all: see
/// `render(image:result:)`.
///
/// One renderer may be used from many tasks for single pictures. The frames of a video go through one renderer one after the
/// other, each video through its own.
public final class EffectRenderer: Sendable {
    /// What is made.
    public let options: EffectOptions
    /// Finds the objects.
    package let segmenter: ImageSegmenter

    private let drawer: any PictureDrawer
    private let palette: Palette
    private let subjectClasses: [Int]
    private let subject: SubjectClasses
    private let stream = Locked(Stream())
    private let backdrop = Locked<Image?>(nil)

    /// What is kept from frame to frame.
    private struct Stream {
        var edges = SteadyEdges()
        var order = TimestampOrder()
    }

    /// Prepares an effect.
    ///
    /// - Parameter segmenter: Whose model and device are used; what masks it gives makes no difference.
    /// - Throws: `invalidOptions`.
    public init(options: EffectOptions, segmenter: ImageSegmenter) throws(ImageSegmenterError) {
        if let fault = options.fault(segmenter.labels) { throw .invalidOptions(fault) }
        self.options = options
        drawer = segmenter.drawer
        palette = segmenter.palette
        do throws(WordError) {
            subjectClasses = try options.subject(of: segmenter.labels)
        } catch {
            throw .invalidOptions(error.description)
        }
        subject = SubjectClasses(subjectClasses)
        self.segmenter = try ImageSegmenter(options: segmenter.options.drawing(options), sharing: segmenter)
    }

    /// Segments a picture and draws the effect.
    ///
    /// - Returns: RGB, or RGBA for a cut-out, of the picture's size.
    /// - Throws: `ImageSegmenterError`, as `ImageSegmenter.segment(image:)`.
    public func render(image: Image) throws(ImageSegmenterError) -> Image {
        draw(image, try segment(image))
    }

    /// Segments a frame of a video and draws the effect, smoothed over time.
    ///
    /// - Parameter timestampInMilliseconds: Later than that of every frame before it.
    /// - Throws: `timestampNotIncreasing`, without harm to later frames; else as `render(image:)`.
    public func render(
        videoFrame: Image, timestampInMilliseconds: Int
    ) throws(ImageSegmenterError) -> Image {
        try stream.withLock { stream throws(ImageSegmenterError) in try stream.order.accept(timestampInMilliseconds) }
        return drawFrame(videoFrame, try segment(videoFrame))
    }

    /// Draws the effect with what a segmenter has found in the picture, so that masks and any number of effects take one run of the
    /// network.
    ///
    ///     segmenterOptions.subjectClasses = ["person"]
    ///     let result = try segmenter.segment(image: photo)
    ///     let portrait = try renderer.render(image: photo, result: result)
    ///
    /// - Parameters:
    ///   - image: The picture that was segmented, upright.
    ///   - result: Of a segmenter of the same model, with `ImageSegmenterOptions.subjectClasses` for the effect's classes.
    /// - Returns: What `render(image:)` gives.
    /// - Throws: `unfitResult`.
    public func render(image: Image, result: ImageSegmenterResult) throws(ImageSegmenterError) -> Image {
        try check(result, of: image)
        return draw(image, result)
    }

    /// Draws the effect with what a segmenter has found in a frame of a video, smoothed over time.
    ///
    /// - Parameters:
    ///   - videoFrame: The frame that was segmented, upright.
    ///   - result: As for `render(image:result:)`; its timestamp is later than that of every frame before it.
    /// - Throws: `unfitResult`, or `timestampNotIncreasing`; both without harm to later frames.
    public func render(videoFrame: Image, result: ImageSegmenterResult) throws(ImageSegmenterError) -> Image {
        try check(result, of: videoFrame)
        guard let timestamp = result.timestampInMilliseconds else {
            throw .unfitResult("the result has no timestamp: it is of a picture, not of a video's frame")
        }
        try stream.withLock { stream throws(ImageSegmenterError) in try stream.order.accept(timestamp) }
        return drawFrame(videoFrame, result)
    }

    private func check(_ result: ImageSegmenterResult, of image: Image) throws(ImageSegmenterError) {
        guard result.labels == segmenter.labels else { throw .unfitResult("the result is another model's") }
        guard let mask = result.pictureCategoryMask else {
            throw .unfitResult("the result is for no effect: set subjectClasses of the segmenter's options")
        }
        guard mask.size == image.size else {
            throw .unfitResult("the result is of a picture of \(mask.size), not of \(image.size)")
        }
        guard options.drawnEdges != nil, result.subjectClasses != subjectClasses else { return }
        func names(_ classes: [Int]) -> String { classes.map { segmenter.labels[$0] }.joined(separator: ", ") }
        throw .unfitResult(
            "the result's subject is \(names(result.subjectClasses ?? [])), and the effect's \(names(subjectClasses))")
    }

    /// Finds the objects: the first half of `render`, for those who let one picture be drawn while the next is segmented.
    package func segment(_ image: Image) throws(ImageSegmenterError) -> ImageSegmenterResult {
        try segmenter.segment(image: image)
    }

    /// Draws a picture: the other half.
    ///
    /// - Parameter background: Is seen in place of the options' background, where that is a colour, a gradient or a picture; RGB.
    package func draw(_ image: Image, _ result: ImageSegmenterResult, background: Image? = nil) -> Image {
        draw(image, result, guide: guide(image, result), background: background)
    }

    /// Draws a frame of a video: frames come in their order.
    package func drawFrame(_ image: Image, _ result: ImageSegmenterResult, background: Image? = nil) -> Image {
        guard let map = result.subject, let edges = options.drawnEdges else {
            return draw(image, result, guide: nil, background: background)
        }
        let mask = options.closesHoles ? result.pictureCategoryMask : nil
        let guide = stream.withLock { stream in
            stream.edges.guide(
                image, map, categories: mask.map { ($0.categories, $0.size) }, smoothing: options.temporalSmoothing,
                for: edges.source)
        }
        return draw(image, result, guide: guide, background: background)
    }

    /// What edges are made of. Nil: there are none.
    private func guide(_ image: Image, _ result: ImageSegmenterResult) -> EdgeGuide? {
        guard let map = result.subject, let edges = options.drawnEdges else { return nil }
        return EdgeGuide(image, map, for: edges.source)
    }

    /// The category mask of a picture with the options' edges: classes that are no subject are 0.
    package func categoryMask(_ image: Image, _ result: ImageSegmenterResult) -> CategoryMask {
        let matte = options.drawnEdges.flatMap { edges in
            guide(image, result)?.matte(of: image, edges)
        }
        return CategoryMask(
            width: image.width, height: image.height, categories: categories(result, matte, leastOpacity: 128))
    }

    private func draw(
        _ image: Image, _ result: ImageSegmenterResult, guide: EdgeGuide?, background: Image?
    ) -> Image {
        let matte = options.drawnEdges.flatMap { edges in guide?.matteSource(of: image, edges) }
        switch options.effect {
        case .overlay(let style):
            // Outlines look at neighbourhoods, and without an edge of its own there is little to do.
            if style.outline == 0, let matte, let mask = result.pictureCategoryMask, let map = result.subject {
                return drawer.draw(
                    PictureDrawing(
                        image, matte, showing: subject.categories(mask.categories, image.size, map),
                        OverlayColors(palette, style)))
            }
            let matte = matte?.matte(of: image)
            return Compositing.overlay(
                image, categories: categories(result, matte), matte: matte, palette: palette, style: style)
        case .cutout:
            return drawer.draw(PictureDrawing(image, matte ?? .opaque(image.size), over: nil))
        case .composite(let behind):
            return drawer.draw(
                PictureDrawing(
                    image, matte ?? .opaque(image.size), over: behind,
                    backdrop: background ?? backdrop(behind, image.size)))
        }
    }

    /// The class of each pixel, 0 for those that are no subject.
    private func categories(
        _ result: ImageSegmenterResult, _ matte: Matte?, leastOpacity: UInt8 = 1
    ) -> [UInt8] {
        guard let mask = result.pictureCategoryMask else { return [] }
        guard let matte, let map = result.subject else {
            return options.classes == nil ? mask.categories : subject.keeping(mask.categories)
        }
        return subject.categories(mask.categories, matte, map, leastOpacity: leastOpacity)
    }

    /// The background as a picture, kept for the next one of the same size.
    private func backdrop(_ background: Background, _ size: PixelSize) -> Image? {
        backdrop.withLock { kept in
            if let kept, kept.size == size { return kept }
            kept = background.picture(of: size)
            return kept
        }
    }
}

extension ImageSegmenterOptions {
    /// Options of the same way of seeing, for what an effect needs and nothing else.
    package func drawing(_ effect: EffectOptions) -> ImageSegmenterOptions {
        var needed = ImageSegmenterOptions()
        needed.baseOptions = baseOptions
        needed.fit = fit
        needed.tileSide = tileSide
        needed.maskSize = .model
        needed.shouldOutputCategoryMask = false
        needed.shouldOutputPictureCategoryMask = true
        if effect.drawnEdges != nil { needed.subjectClasses = effect.classes ?? .foreground }
        return needed
    }
}

extension MatteSource {
    /// Everything is subject.
    fileprivate static func opaque(_ size: PixelSize) -> MatteSource {
        .plane(Matte(size: size, opacities: [UInt8](repeating: 255, count: size.pixelCount)))
    }
}
