import Glibc
import Imaging

/// Where a film's sound comes from.
private enum SoundSource {
    /// The film itself, which can be read again.
    case film(Film)
    /// What `SoundExtraction` has taken out of a film that cannot.
    case extracted
}

/// Makes a film file, which appears when it is whole.
///
/// Frames are encoded while they come; the sound is put to them at the end, so that it is as long as they are also when the
/// film is cut short. One thread uses it. Without `finish` nothing is left of the film.
package final class FilmWriter {
    private let path: String
    private let format: OutputFormat
    private let stream: EncodedStream
    private let sound: SoundSource?
    private let soundPlan: SoundPlan
    private let encoder: Encoder
    private var pictures: PendingFile?
    private var soundFile: PendingFile?

    /// Takes the sound out of a film that is read through a pipe; for its reader. Nil where none is wanted.
    package private(set) var extraction: SoundExtraction?
    /// What the user should know: sound that is encoded anew.
    package var notices: [String] { soundPlan.notices }
    /// Files that are left behind where the program is killed; none on file systems that have nameless files.
    package var hiddenFiles: [String] { [pictures?.name, soundFile?.name].compactMap(\.self) }

    /// Starts the encoder.
    ///
    /// - Parameters:
    ///   - film: The film whose sound goes with it, if it has any. Nil: none.
    ///   - quality: As the format's encoder counts. Nil: its standard.
    package init(
        _ path: String, format: OutputFormat, stream: EncodedStream, soundOf film: Film?, quality: Int? = nil
    ) throws(VideoError) {
        self.path = path
        self.format = format
        self.stream = stream
        let sounds = format.hasSound ? film?.info.sounds ?? [] : []
        soundPlan = SoundPlan(sounds, for: format)
        let pictures = try Self.begin(path, isScratch: false)
        let descriptor = pictures.descriptor
        self.pictures = consume pictures
        if let film, !sounds.isEmpty {
            if film.feed == nil {
                sound = .film(film)
            } else {
                let file = try Self.begin(path, isScratch: true)
                extraction = SoundExtraction(descriptor: file.descriptor, sounds: sounds)
                soundFile = consume file
                sound = .extracted
            }
        } else {
            sound = nil
        }
        encoder = try Encoder(
            stream, to: .file(descriptor, format, quality: quality, isFinal: sounds.isEmpty), name: path)
    }

    /// Adds a frame of the stream's size.
    ///
    /// - Parameter microseconds: When it is shown; later than all before it, the first at 0.
    package func write(_ image: Image, microseconds: Int) throws(VideoError) {
        try encoder.write(image, microseconds: microseconds)
    }

    /// Completes the film and gives it its name.
    ///
    /// - Parameters:
    ///   - delay: Seconds from the beginning of the source to its first frame, by which the sound comes before the frames.
    ///   - length: Seconds after which the sound is cut off, counted as the delay is. Nil: all of it.
    /// - Returns: Why the sound is missing; nil where it is not.
    package func finish(delay: Double, length: Double?) throws(VideoError) -> String? {
        try encoder.finish()
        guard let sound, let source = pictures?.descriptor else {
            try publish()
            return nil
        }
        let whole = try Self.begin(path, isScratch: false)
        let complaint = try join(
            arguments(sound, delay: delay, length: length),
            open: [source, whole.descriptor] + (extraction.map { [$0.descriptor] } ?? []))
        if complaint == nil { pictures = consume whole }
        try publish()
        return complaint
    }

    private static func begin(_ path: String, isScratch: Bool) throws(VideoError) -> PendingFile {
        do throws(ImageError) {
            return try isScratch ? PendingFile(beside: path) : PendingFile(replacing: path)
        } catch {
            throw VideoError(error.description)
        }
    }

    private func publish() throws(VideoError) {
        do throws(ImageError) {
            try pictures?.publish()
        } catch {
            throw VideoError(error.description)
        }
    }

    /// What ffmpeg is told: the pictures are descriptor 3, the result is 4, the extracted sound 5.
    private func arguments(_ sound: SoundSource, delay: Double, length: Double?) -> [String] {
        var arguments = ["ffmpeg", "-nostdin", "-hide_banner", "-v", "error", "-y"]
        if delay > 0 { arguments += ["-itsoffset", plain(delay)] }
        arguments += ["-i", "file:/dev/fd/3"]
        switch sound {
        case .film(let film):
            if let start = film.options.start { arguments += ["-ss", plain(start)] }
            if let duration = film.options.duration { arguments += ["-t", plain(duration)] }
            arguments += film.source.arguments(film.options)
        case .extracted:
            // Its times are the film's already.
            arguments += ["-i", "file:/dev/fd/5", "-copyts"]
        }
        arguments += ["-map", "0:v"] + soundPlan.arguments + ["-c:v", "copy"]
        if let length { arguments += ["-t", plain(length)] }
        return arguments + format.muxerArguments(timeBase: stream.timeBase, isFinal: true)
            + ["-f", format.muxer, "file:/dev/fd/4"]
    }

    /// Runs ffmpeg to its end. What it complained of where it failed.
    private func join(_ arguments: [String], open: [Int32]) throws(VideoError) -> String? {
        var child = try ChildProcess(arguments, output: .nothing, open: open)
        let complaints = try Complaints(of: child.errors)
        let (complaint, loss) = (complaints.last, complaints.loss)
        let ending = child.wait()
        if let loss { throw VideoError("\(path): cannot be written: ffmpeg: \(loss)") }
        return ending == .exited(0) ? nil : complaint ?? "ffmpeg ended too early"
    }
}
