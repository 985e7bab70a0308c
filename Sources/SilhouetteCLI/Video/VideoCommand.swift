import Glibc
import Imaging
import ModelGraph
import Silhouette
import Video

/// Runs `silhouette video`.
func video(_ settings: VideoSettings) throws -> ExitCode {
    let destination = try FilmDestination(settings)
    let source = try FilmSource(path: settings.inputs[0])
    try settings.reading.check(for: source)
    if case .camera(let from) = source, case .camera(let to) = destination, isSameDevice(from, to) {
        throw UsageError("\(from) would be written to while it is read; choose another camera with -o")
    }
    var read = ReadFiles()
    read.add(source)
    if let path = settings.backgroundVideo { read.add(path, "the film behind the subject") }
    if let path = settings.effects.background?.path { read.add(path, "the background's picture") }
    try read.requireUntouched(by: destination.files)
    let film = try Film(source, options: settings.reading)

    let location = try ModelLocator(searchesCache: true).locate(settings.model)
    read.add(location.path, "the model")
    try read.requireUntouched(by: destination.files)
    let model = try readModel(
        location.path, memoryLimit: settings.modelMemory, threads: settings.threads)
    let classes = try chosenClasses(
        keeping: settings.classes, dropping: settings.droppedClasses, in: model.labels)
    let effect = try settings.effectOptions(classes, model.labels)
    let memory = FilmMemory(
        film.info, effect, fit: settings.fit, tileSide: settings.tileSide,
        hasBackgroundFilm: settings.backgroundVideo != nil,
        model: ModelOutput(model))
    try LoneMemory.check(memory.byteCount, memory.size, name: source.name, LoneMemory.room)
    let backdrop = try settings.backgroundVideo.map { path in
        try BackgroundFilm(path: path, behind: film, showsAll: settings.effects.backgroundFit == .contain)
    }
    let progress = FilmProgress(
        expected: film.info.expectedFrameCount(start: settings.reading.start ?? 0, limit: settings.reading.duration))
    var options = settings.segmenterOptions
    options.baseOptions.warningHandler = { progress.note("silhouette: \($0)") }
    let segmenter = try ImageSegmenter(options: options, model: model)

    modelNotes(model, location, segmenter, isVerbose: settings.isVerbose).forEach { progress.note($0) }
    let renderer = try EffectRenderer(options: effect, segmenter: segmenter)
    let run = FilmRun(film: film, renderer: renderer, backdrop: backdrop, settings: settings, progress: progress)
    return try run.run(into: destination)
}

private func isSameDevice(_ first: String, _ second: String) -> Bool {
    var (one, other) = (stat(), stat())
    return stat(first, &one) == 0 && stat(second, &other) == 0 && one.st_rdev == other.st_rdev
}

extension ReadFiles {
    fileprivate mutating func add(_ source: FilmSource) {
        switch source {
        case .file(let path): add(path, "the film that is read")
        case .sequence(let path): for file in NumberedName(path)?.files() ?? [] { add(file, "a picture that is read") }
        case .pipe: addStandardInput("the film that is read")
        case .camera: break
        }
    }
}

extension FilmDestination {
    /// The files of those names that are there.
    fileprivate var files: [String] {
        switch self {
        case .film(let path, _): [path]
        case .pictures(let name): name.files()
        case .camera, .standardOutput: []
        }
    }
}

extension FilmRun {
    /// Prepares what takes the frames, runs, and tells how it went.
    func run(into destination: FilmDestination) throws -> ExitCode {
        let stream = EncodedStream(of: film, hasAlpha: settings.output.hasAlpha)
        let sink: any FilmSink
        var extraction: SoundExtraction?
        switch destination {
        case .film(let path, let format):
            let writer = try FilmWriter(path, format: format, stream: stream, soundOf: film, quality: settings.quality)
            writer.notices.forEach { note($0) }
            extraction = writer.extraction
            sink = writer
            if format.needsFullColor(stream) {
                note(
                    "\(film.info.sizeText) has an odd side, so colours are stored as 4:4:4, which not every player shows"
                )
            }
        case .pictures(let name): sink = PictureWriter(name)
        case .camera(let path): sink = try LiveWriter(.camera(path), stream: stream)
        case .standardOutput(.yuv4mpeg): sink = try LiveWriter(.standardOutput, stream: stream)
        case .standardOutput(.rgb24): sink = RawWriter(.rgb)
        case .standardOutput(.rgba): sink = RawWriter(.rgba)
        }
        tellWhatIsLeftOut(destination)
        return try run(into: sink, sound: extraction, destination)
    }

    private func tellWhatIsLeftOut(_ destination: FilmDestination) {
        let info = film.info
        var missing: [String] = []
        if info.subtitleCount > 0 { missing.append("subtitles") }
        if info.otherVideoCount > 0 { missing.append("all but the first stream of pictures") }
        let hasSound = if case .film(_, let format) = destination { format.hasSound } else { false }
        if !info.sounds.isEmpty, !hasSound { missing.append("the sound") }
        if !missing.isEmpty { note("left out: \(missing.joined(separator: ", "))") }
        if case .standardOutput(let format) = destination, format != .yuv4mpeg {
            note("frames of \(info.sizeText), \(format.rawValue)")
        }
    }
}

extension ReadingOptions {
    /// Refuses what a source has no use for.
    fileprivate func check(for source: FilmSource) throws(UsageError) {
        switch source {
        case .camera: break
        case .sequence where cameraSize == nil: break
        default:
            guard cameraSize == nil else {
                throw UsageError("--input-size goes with a camera, which \(source.name) is not")
            }
            guard inputRate == nil else {
                throw UsageError("--input-rate goes with a camera or numbered pictures, which \(source.name) is not")
            }
        }
    }
}

extension VideoSettings {
    fileprivate var segmenterOptions: ImageSegmenterOptions {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = device
        options.baseOptions.precision = precision
        options.baseOptions.tuning = tuning
        options.baseOptions.threadCount = threads
        options.fit = fit
        options.tileSide = tileSide
        return options
    }
}
