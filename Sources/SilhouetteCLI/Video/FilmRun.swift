import Base
import Imaging
import Silhouette
import Video

/// One run over a film: frames are decoded, segmented, and drawn and encoded side by side.
final class FilmRun: Sendable {
    let film: Film
    let settings: VideoSettings
    private let renderer: EffectRenderer
    private let backdrop: BackgroundFilm?
    private let progress: FilmProgress
    private let state: Locked<State>

    private struct State {
        var clock: FilmClock
        var failure: (any Error)?
        var frameCount = 0
        /// Seconds from the beginning of the source to the first frame.
        var delay: Double?
        /// When the last frame is shown, in microseconds from the first one on.
        var lastTime = 0
        /// How long the frame before it is shown.
        var lastStep: Int?
        var times = StageTimes()
    }

    /// A frame on its way through the stages.
    private struct Job: Sendable {
        var frame: VideoFrame
        var result: ImageSegmenterResult?
    }

    init(
        film: Film, renderer: EffectRenderer, backdrop: BackgroundFilm?, settings: VideoSettings, progress: FilmProgress
    ) {
        self.film = film
        self.renderer = renderer
        self.backdrop = backdrop
        self.settings = settings
        self.progress = progress
        state = Locked(State(clock: FilmClock(of: film)))
    }

    /// Tells the user something.
    func note(_ text: String) { progress.note("silhouette: \(film.source.name): \(text)") }

    /// Runs all frames into the sink, completes it, and tells how it went.
    ///
    /// - Parameter destination: What the sink makes, for messages.
    func run(into sink: any FilmSink, sound: SoundExtraction?, _ destination: FilmDestination) throws -> ExitCode {
        let reader = try VideoReader(film, sound: sound)
        let interruption = try Interruption()
        interruption.onFirst(hiddenFiles: sink.hiddenFiles) { reader.stop() }
        let start = ContinuousClock.now
        try runPipeline {
            self.read(reader, interruption)
        } second: { _, job in
            self.segment(job)
        } third: { job in
            self.write(job, into: sink)
        }
        progress.end()
        let ending = reader.finish()
        let state = state.withLock(\.self)
        if let failure = state.failure { throw failure }
        let isCut = interruption.hasCome
        guard state.frameCount > 0 else {
            guard isCut else { throw VideoError("\(film.source.name): there is no frame in it") }
            Console.report(singleLine("silhouette video: ended before the first frame; nothing is written"))
            return .interrupted
        }
        let finishing = ContinuousClock.now
        // The sound of a film that ends early ends with it.
        let endsEarly = isCut || ending != .whole
        let missing = try sink.finish(delay: state.delay ?? 0, length: endsEarly ? length(state) : nil)
        let now = ContinuousClock.now
        if settings.isVerbose {
            for line in state.times.lines(total: now - start, finishing: now - finishing) { progress.note(line) }
        }
        return report(state, destination, ending, missing: missing, isCut: isCut, took: now - start)
    }

    private func read(_ reader: VideoReader, _ interruption: Interruption) -> Job? {
        guard !interruption.hasCome, state.withLock({ $0.failure == nil }) else { return nil }
        let start = ContinuousClock.now
        do {
            let frame = try reader.next()
            state.withLock { $0.times.decoding += ContinuousClock.now - start }
            return frame.map { Job(frame: $0) }
        } catch {
            fail(error)
            return nil
        }
    }

    private func segment(_ job: Job) -> Job {
        guard state.withLock({ $0.failure == nil }) else { return job }
        var job = job
        let start = ContinuousClock.now
        do {
            job.result = try renderer.segment(job.frame.image)
        } catch {
            fail(VideoError("\(film.source.name): \(error)"))
        }
        state.withLock { $0.times.network += ContinuousClock.now - start }
        return job
    }

    private func write(_ job: Job, into sink: any FilmSink) {
        guard let result = job.result, state.withLock({ $0.failure == nil }) else { return }
        let start = ContinuousClock.now
        let microseconds = state.withLock { state in
            if state.delay == nil { state.delay = Double(job.frame.timestamp) * film.info.timeBase.value }
            let time = state.clock.microseconds(state.clock.time(of: job.frame.timestamp))
            if state.frameCount > 0 { state.lastStep = time - state.lastTime }
            state.lastTime = time
            return time
        }
        do {
            let background = try backdrop?.picture(at: microseconds)
            let drawn = renderer.drawFrame(job.frame.image, result, background: background)
            let drawingEnd = ContinuousClock.now
            try sink.write(drawn, microseconds: microseconds)
            state.withLock { state in
                state.times.drawing += drawingEnd - start
                state.times.encoding += ContinuousClock.now - drawingEnd
                state.frameCount += 1
            }
        } catch {
            fail(error)
            return
        }
        progress.done(state.withLock(\.frameCount))
    }

    /// The first failure counts: it ends the run.
    private func fail(_ error: any Error) {
        state.withLock { if $0.failure == nil { $0.failure = error } }
    }

    /// Seconds from the beginning of the source to the end of the last frame.
    private func length(_ state: State) -> Double {
        let step = state.clock.rate.map { 1 / $0.value } ?? state.lastStep.map { Double($0) / 1e6 } ?? 0.04
        return (state.delay ?? 0) + Double(state.lastTime) / 1e6 + step
    }

    private func report(
        _ state: State, _ destination: FilmDestination, _ ending: VideoReader.Ending, missing: String?, isCut: Bool,
        took: Duration
    ) -> ExitCode {
        let seconds = took / .seconds(1)
        let frames = state.frameCount == 1 ? "1 frame" : "\(state.frameCount) frames"
        let rate = decimal(Double(state.frameCount) / max(seconds, 1e-3), places: 1)
        let summary = "\(film.source.name) -> \(destination.name): \(frames), \(rate) a second"
        // Standard output may be the film.
        if case .standardOutput = destination {
            if settings.isVerbose { Console.report(singleLine(summary)) }
        } else if !isCut {
            Console.print(singleLine(summary))
        }
        if let missing { note("\(destination.name) has no sound: it cannot be put in: \(missing)") }
        if isCut {
            Console.report(
                singleLine("silhouette video: ended early: \(destination.name) has the \(frames) until then"))
            return .interrupted
        }
        if case .damaged(let reason) = ending {
            note("is damaged: \(reason); \(destination.name) has the \(frames) that could be read")
            return .failure
        }
        return missing == nil ? .success : .failure
    }
}

/// How long the stages worked, or waited for the program on their other side.
private struct StageTimes {
    var decoding = Duration.zero
    var network = Duration.zero
    var drawing = Duration.zero
    var encoding = Duration.zero

    /// One line for each, with its share of the whole. Stages work at the same time, so shares add up to more than all.
    func lines(total: Duration, finishing: Duration) -> [String] {
        [
            ("decoding", decoding), ("network", network), ("drawing", drawing), ("encoding", encoding),
            ("completing", finishing), ("all together", total),
        ].map { name, time in
            let seconds = time / .seconds(1)
            let share = seconds / max(total / .seconds(1), 1e-3) * 100
            return "\(name): \(decimal(seconds, places: 2)) s, \(decimal(share, places: 0)) %"
        }
    }
}
