import Base
import Glibc
import Imaging

/// A frame of a film.
package struct VideoFrame: Sendable {
    /// Its picture, upright, RGB or RGBA.
    package var image: Image
    /// When it is shown, in units of the film's time base.
    package var timestamp: Int
}

/// Reads the frames of a film, one after the other, through the program ffmpeg.
///
/// Frames come upright, all of one size (in a film that changes it, later ones are fitted into the first one's), each with its own
/// timestamp. One thread reads; `stop` may be called from any.
package final class VideoReader: @unchecked Sendable {
    /// How a film ended.
    package enum Ending: Equatable, Sendable {
        /// As it should.
        case whole
        /// Something was wrong with it, in ffmpeg's words; the frames that were given are what could be read.
        case damaged(String)
    }

    /// What is read.
    package let film: Film
    private var child: ChildProcess
    private let complaints: Complaints
    private var reader: NUTReader?
    private var hasEnded = false
    private var damage: String?
    private let stopping = Locked(Stopping())

    private struct Stopping {
        var hasBegun = false
        /// Whether ffmpeg's process number may be another program's by now.
        var isOver = false
    }

    /// Microseconds that ffmpeg has to end well. It does not where its input neither comes nor ends.
    private static let patience: useconds_t = 3_000_000

    /// Starts to read.
    ///
    /// - Parameter sound: Where the film's sound goes, where that is wanted: a file that is open for writing.
    package init(_ film: Film, sound: SoundExtraction? = nil) throws(VideoError) {
        self.film = film
        child = try ChildProcess(
            Self.arguments(film, sound), input: film.feed == nil ? .nothing : .pipe,
            open: sound.map { [$0.descriptor] } ?? [],
            limits: .decoding(pixelCount: film.info.width * film.info.height))
        complaints = try Complaints(of: child.errors)
        try film.feed?.goOn(into: child.input)
        child.closeInput()
    }

    /// The next frame; nil at the end, after which `finish` tells how that was.
    ///
    /// - Throws: `VideoError` where not a single frame could be read.
    package func next() throws(VideoError) -> VideoFrame? {
        guard !hasEnded else { return nil }
        let isFirst = reader == nil
        do throws(VideoError) {
            if isFirst { reader = try NUTReader(ByteStream(descriptor: child.output)) }
            if let track = reader?.track, let frame = try reader?.next() {
                return VideoFrame(image: try Self.image(frame, track), timestamp: timestamp(frame, track))
            }
        } catch {
            damage = error.description
        }
        hasEnded = true
        if isFirst, !stopping.withLock({ $0.hasBegun }) {
            var reason = Film.reason(complaints.first ?? damage, film.source)
            if complaints.first == nil, let start = film.options.start, start > 0 {
                let length = film.info.duration.map { ", which has \(($0 * 10).rounded() / 10) s" } ?? ""
                reason = "there is nothing \(start) s after the beginning of the film\(length)"
            }
            throw VideoError("\(film.source.name): no frame could be read: \(reason)")
        }
        return nil
    }

    /// Ends the film before its time: some more frames may come, then the end. May be called from any thread.
    package func stop() {
        let (id, stopping) = (child.id, stopping)
        let isFirst = stopping.withLock { stopping in
            guard !stopping.hasBegun, !stopping.isOver else { return false }
            stopping.hasBegun = true
            kill(id, SIGTERM)
            return true
        }
        guard isFirst else { return }
        @Sendable func end() { stopping.withLock { if !$0.isOver { kill(id, SIGKILL) } } }
        do throws(VideoError) {
            try startThread("stop") {
                usleep(Self.patience)
                end()
            }
        } catch {
            // Nobody could end it later.
            end()
        }
    }

    /// Waits for ffmpeg to end and tells whether it had read the whole film. To be called once, after the last frame.
    package func finish() -> Ending {
        if !hasEnded, !stopping.withLock(\.hasBegun) { kill(child.id, SIGKILL) }
        // What is still on its way is drained, so that ffmpeg is not held up.
        drain()
        let complaint = complaints.first
        let wasStopped = stopping.withLock { stopping in
            stopping.isOver = true
            return stopping.hasBegun
        }
        let ending = child.wait()
        if wasStopped || !hasEnded { return .whole }
        if let complaint { return .damaged(Film.reason(complaint, film.source)) }
        switch ending {
        case .exited(0): return damage.map { .damaged($0) } ?? .whole
        case .exited(let code): return .damaged("ffmpeg ended with code \(code)")
        case .signalled(let signal): return .damaged("ffmpeg was ended by signal \(signal)")
        }
    }

    /// ffmpeg may count in parts of the film's own unit.
    private func timestamp(_ frame: NUTReader.Frame, _ track: NUTReader.Track) -> Int {
        let own = film.info.timeBase
        if track.timeBase == own { return frame.timestamp }
        let timestamp = Double(frame.timestamp) * (track.timeBase.value / own.value)
        // Within what the reader of NUT gives, whatever the units.
        return Int(min(max(timestamp, -0x1p60), 0x1p60).rounded())
    }

    private func drain() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(child.output, &buffer, buffer.count)
            if count == 0 || (count < 0 && errno != EINTR) { return }
        }
    }

    private static func image(_ frame: NUTReader.Frame, _ track: NUTReader.Track) throws(VideoError) -> Image {
        do throws(ImageError) {
            return try Image(
                width: track.width, height: track.height, format: track.content == .rgba ? .rgba : .rgb,
                bytes: frame.bytes)
        } catch {
            throw VideoError("\(error.reason)")
        }
    }

    /// Cuts a picture that fills a size down to twice what of it is seen: the whole of a long one would be huge.
    private static func middle(for size: FittedSize) -> String {
        func side(_ name: String, _ other: String, _ ratio: String) -> String {
            "'min(\(name),2*ceil(\(other)*\(ratio)))'"
        }
        return "crop=\(side("iw", "ih", "\(size.width)/\(size.height)"))"
            + ":\(side("ih", "iw", "\(size.height)/\(size.width)")):exact=1"
    }

    static func arguments(_ film: Film, _ sound: SoundExtraction?) -> [String] {
        let (info, options) = (film.info, film.options)
        let colors = VideoColors(info)
        let target = options.frameSize ?? FittedSize(width: info.width, height: info.height, showsAll: true)
        let size = "\(target.width):\(target.height)"
        // The turn that the film asks for comes before these filters by itself.
        var filters = target.showsAll ? [] : [middle(for: target)]
        filters += [
            "scale=\(size):force_original_aspect_ratio=\(target.showsAll ? "decrease" : "increase"):in_color_matrix=\(colors.filterMatrix):\(VideoColors.exactly)",
            "format=\(info.hasAlpha ? "rgba" : "rgb24")", target.showsAll ? "pad=\(size):-1:-1" : "crop=\(size)",
        ]
        var arguments = ["ffmpeg", "-nostdin", "-hide_banner", "-v", "error", "-y"]
        if info.needsVPXDecoder { arguments += ["-c:v", info.codec == "vp8" ? "libvpx" : "libvpx-vp9"] }
        if options.isLooped { arguments += ["-stream_loop", "-1"] }
        if let start = options.start { arguments += ["-ss", plain(start)] }
        if let duration = options.duration { arguments += ["-t", plain(duration)] }
        arguments += film.source.arguments(options)
        arguments += ["-map", "0:\(info.streamIndex)", "-vf", filters.joined(separator: ",")]
        // Every frame once, with its own timestamp.
        arguments += ["-c:v", "rawvideo", "-fps_mode", "passthrough", "-enc_time_base", "-1"]
        arguments += ["-map_metadata", "-1", "-write_index", "0", "-flush_packets", "1", "-f", "nut", "pipe:1"]
        return arguments + (sound?.arguments ?? [])
    }
}
