import Base
import Imaging
import ModelGraph
import Silhouette

/// Runs `silhouette segment`.
func segment(_ settings: SegmentSettings) throws -> ExitCode {
    let inputs = try expandInputs(settings.inputs)
    let isBatch = inputs.count > 1 || PathKind(settings.inputs[0]) == .folder
    let destination = try destination(settings.destination, isBatch: isBatch)

    var read = ReadFiles()
    for input in inputs {
        let use = "the photograph \(input.displayName)"
        if input.path == "-" { read.addStandardInput(use) } else { read.add(input.path, use) }
    }
    if let path = settings.effects.background?.path { read.add(path, "the background's picture") }
    func plan(_ classNames: [String]) throws(UsageError) -> OutputFilePlan {
        let plan = try OutputFilePlan(
            inputs: inputs, kind: settings.output, destination: destination, classNames: classNames)
        try read.requireUntouched(by: (plan.files ?? []).joined())
        return plan
    }
    // Only the names of confidences depend on the model; other mistakes are told before one is looked for.
    if settings.output != .confidence { _ = try plan([]) }

    let location = try ModelLocator(searchesCache: true).locate(settings.model)
    read.add(location.path, "the model")
    let model = try readModel(
        location.path, memoryLimit: settings.modelMemory, threads: settings.threads)
    let classes = try chosenClasses(
        keeping: settings.classes, dropping: settings.droppedClasses, in: model.labels)
    let files = try plan((classes ?? Array(model.labels.indices)).map { model.labels[$0] })

    let progress = Progress(total: inputs.count, printsResults: files.files != nil)
    var options = settings.segmenterOptions(classes)
    options.baseOptions.warningHandler = { progress.note("silhouette: \($0)") }
    let effect = try settings.effectOptions(classes, model.labels)
    let pool = try SegmenterPool(
        options: effect.map { options.drawing($0) } ?? options, model: model, pictureCount: inputs.count)
    let renderer = try effect.map { effect throws(ImageSegmenterError) in
        try EffectRenderer(options: effect, segmenter: pool.segmenters[0])
    }
    var palette = Palette(of: model)
    palette.recolor(try settings.effects.classColors(among: model.labels))
    if case .folder(let path) = destination, let reason = makeFolder(path) {
        Console.report(singleLine("silhouette segment: \(path): \(reason)"))
        return .failure
    }
    let run = SegmentRun(
        settings: settings, inputs: inputs, plan: files, pool: pool,
        rendering: Rendering(
            kind: settings.output, format: files.format, palette: palette, classes: classes.map(Set.init),
            renderer: renderer),
        memory: PictureMemory(
            settings.memoryOutput(effect, classCount: classes?.count ?? model.labels.count), masks: settings.maskSize,
            fit: settings.fit, tileSide: settings.tileSide, format: files.format, model: ModelOutput(model)),
        room: LoneMemory.room, progress: progress)
    modelNotes(model, location, pool.segmenters[0], isVerbose: settings.isVerbose).forEach { progress.note($0) }
    return try run.run()
}

/// What is told before the work begins: which model and device are used.
func modelNotes(
    _ model: Model, _ location: ModelLocator.Location, _ segmenter: ImageSegmenter, isVerbose: Bool
) -> [String] {
    let name = "model: \(model.name) (\(location.origin.explanation))"
    if isVerbose {
        return [
            name, "file: \(location.path)", "memory of the model: up to \(model.memory.byteCount() >> 20) MiB",
            "device: \(segmenter.deviceName) (\(segmenter.deviceReason))",
        ] + (segmenter.deviceTuning.map { ["tuning: \($0)"] } ?? [])
    }
    // Who chose the model knows which it is.
    return location.origin == .named || location.origin == .environment ? [] : [name]
}

/// One run over all photographs.
private struct SegmentRun: Sendable {
    let settings: SegmentSettings
    let inputs: [Input]
    let plan: OutputFilePlan
    let pool: SegmenterPool
    let rendering: Rendering
    let memory: PictureMemory
    /// Nil: there is no limit.
    let room: MemoryRoom?
    let progress: Progress

    /// A photograph on its way through the stages.
    private struct Job: Sendable {
        let index: Int
        var picture: Image?
        var result: ImageSegmenterResult?
        var failure: String?
        var readMilliseconds = 0.0
        /// What it has taken of the room.
        var byteCount = 0
    }

    func run() throws -> ExitCode {
        let next = Array(inputs.indices).handout
        let before = PeakMemory.byteCount
        try pool.run {
            next().map { index in read(index) }
        } segment: { segmenter, job in
            segment(job, segmenter)
        } finish: { job in
            write(job)
        }
        if settings.isVerbose {
            progress.note(
                "memory: \(PeakMemory.byteCount >> 20) MiB at most, \(before >> 20) before the first photograph")
        }
        progress.end()
        let failures = progress.failures
        if inputs.count > 1, !failures.isEmpty {
            let names = failures.prefix(10).joined(separator: ", ") + (failures.count > 10 ? ", ..." : "")
            Console.report(
                singleLine("silhouette: \(failures.count) of \(inputs.count) photographs failed: \(names)"))
        }
        return failures.isEmpty ? .success : .failure
    }

    private func read(_ index: Int) -> Job {
        var job = Job(index: index)
        let start = ContinuousClock.now
        do throws(ImageError) {
            var limits = ImageLimits()
            if let maxPixels = settings.maxPixels { limits.maxPixels = maxPixels }
            let name = inputs[index].displayName
            let decoded = try ImageFile.read(path: inputs[index].path, limits: limits) { claim throws(ImageError) in
                job.byteCount = try take(claim, for: name)
            }
            for notice in decoded.notices { progress.note("silhouette: \(inputs[index].displayName): \(notice)") }
            job.picture = decoded.image
        } catch {
            job.failure = error.description
            if case .tooManyPixels(let width, let height, let limit) = error.reason {
                job.failure =
                    "\(error.name): \(width)x\(height) are more than \(limit) pixels, the limit; --max-pixels raises it"
            }
            if case .unreadable = error.reason, inputs[index].path.unicodeScalars.contains("\u{FFFD}") {
                job.failure = "\(error) (file names have to be UTF-8: rename it)"
            }
        }
        job.readMilliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        return job
    }

    /// Takes room for a picture before its memory is taken.
    private func take(_ claim: PictureClaim, for name: String) throws(ImageError) -> Int {
        let byteCount = memory.byteCount(claim)
        if let room, !room.take(byteCount) {
            throw ImageError(
                name,
                .tooMuchMemory(
                    width: claim.size.width, height: claim.size.height, needed: byteCount, available: room.byteCount,
                    bound: room.bound))
        }
        return byteCount
    }

    private func segment(_ job: Job, _ segmenter: ImageSegmenter) -> Job {
        guard let picture = job.picture else { return job }
        var job = job
        do throws(ImageSegmenterError) {
            job.result = try segmenter.segment(image: picture)
        } catch {
            job.failure = "\(inputs[job.index].displayName): \(error)"
        }
        return job
    }

    private func write(_ job: Job) {
        defer { room?.giveBack(job.byteCount) }
        let input = inputs[job.index]
        guard let picture = job.picture, let result = job.result else {
            progress.failed(input, job.failure ?? input.displayName)
            return
        }
        let paths = plan.files?[job.index] ?? ["-"]
        let start = ContinuousClock.now
        do {
            // All are encoded before the first is written: an error leaves nothing behind.
            let files = try rendering.files(picture, result, name: input.displayName)
            for (path, contents) in zip(paths, files) { try contents.write(to: path) }
        } catch {
            progress.failed(input, "\(error)")
            return
        }
        if settings.isVerbose {
            let timings = result.timings
            let steps = [
                ("read", job.readMilliseconds), ("preprocess", timings.preprocessMilliseconds),
                ("network", timings.inferenceMilliseconds), ("masks", timings.postprocessMilliseconds),
                ("write", (ContinuousClock.now - start) / .milliseconds(1)),
            ].map { "\($0) \(decimal($1, places: 1)) ms" }
            progress.note(
                "\(input.displayName): \(steps.joined(separator: ", ")); memory up to \(job.byteCount >> 20) MiB")
        }
        let written = paths.count > 3 ? "\(paths[0]) and \(paths.count - 1) more" : paths.joined(separator: ", ")
        let found = findings(result, among: rendering.classes).map { ": \($0)" } ?? ""
        progress.finished("\(input.displayName) -> \(written)\(found)")
    }
}

extension SegmentSettings {
    fileprivate func segmenterOptions(_ classes: [Int]?) -> ImageSegmenterOptions {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = device
        options.baseOptions.precision = precision
        options.baseOptions.tuning = tuning
        options.baseOptions.threadCount = threads
        // What an effect needs is asked for by its renderer.
        options.shouldOutputCategoryMask = output == .mask || output.showsPicture
        options.shouldOutputConfidenceMasks = output == .confidence
        options.shouldOutputScores = output == .scores
        options.confidenceClasses = classes.map { ClassSelection($0) }
        options.maskSize = maskSize
        options.fit = fit
        options.tileSide = tileSide
        return options
    }

    /// What a picture's memory depends on.
    fileprivate func memoryOutput(_ effect: EffectOptions?, classCount: Int) -> PictureMemory.Output {
        switch output {
        case .mask: .categories(edges: effect?.drawnEdges)
        case .confidence: .confidences(count: classCount, files: classCount)
        case .scores: .scores
        case .overlay, .cutout, .composite: effect.map { .effect($0) } ?? .categories(edges: nil)
        }
    }

    /// What the renderer makes. Nil: it is not needed.
    fileprivate func effectOptions(_ classes: [Int]?, _ labels: [String]) throws -> EffectOptions? {
        var limits = ImageLimits()
        if let maxPixels { limits.maxPixels = maxPixels }
        return try effects.effect(output.rawValue, labels: labels, limits: limits).map {
            EffectOptions($0, classes: classes.map { ClassSelection($0) }, edges: effects.edgeOptions)
        }
    }
}

extension ModelLocator.Origin {
    /// Why this model, for people.
    var explanation: String {
        switch self {
        case .named: "named with --model"
        case .environment: "named by SILHOUETTE_MODEL"
        case .cache: "found in the cache"
        case .included: "comes with Silhouette"
        }
    }
}
