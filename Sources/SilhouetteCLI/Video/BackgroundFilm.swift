import Base
import Imaging
import Video

/// A film that is seen behind the subject of another one, again and again, at its own pace.
final class BackgroundFilm: Sendable {
    private struct State {
        var isAtStart = true
        var current: VideoFrame?
        var next: VideoFrame?
        var first = 0
    }

    private let reader: VideoReader
    private let state = Locked(State())

    /// Opens the film; its frames come in the other one's size.
    ///
    /// - Parameter showsAll: Whether all of a frame is seen, with black beside it, or it fills everything.
    init(path: String, behind film: Film, showsAll: Bool) throws {
        var options = ReadingOptions()
        options.isLooped = true
        options.maxPixels = film.options.maxPixels
        options.frameSize = FittedSize(width: film.info.width, height: film.info.height, showsAll: showsAll)
        let source = try FilmSource(path: path)
        guard case .file = source else { throw UsageError("--background-video: \(path) is no file") }
        reader = try VideoReader(try Film(source, options: options))
    }

    /// The frame that is shown at a time of the other film; times do not go back.
    func picture(at microseconds: Int) throws -> Image {
        try state.withLock { state in
            if state.isAtStart {
                state.isAtStart = false
                state.current = try reader.next()
                state.first = state.current?.timestamp ?? 0
                state.next = try reader.next()
            }
            // What cannot be read again stays at its last frame.
            while let next = state.next, time(of: next, state) <= Double(microseconds) {
                state.current = next
                state.next = try reader.next()
            }
            guard let current = state.current else {
                throw VideoError("\(reader.film.source.name): there is no frame in it")
            }
            return current.image
        }
    }

    private func time(of frame: VideoFrame, _ state: State) -> Double {
        Double(frame.timestamp - state.first) * reader.film.info.timeBase.value * 1e6
    }
}
