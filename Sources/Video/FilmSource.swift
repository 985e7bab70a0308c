import Base
import Glibc

/// Where a film comes from.
package enum FilmSource: Equatable, Sendable {
    /// A file that ffmpeg reads.
    case file(String)
    /// What another program writes: standard input for `-`, or a named pipe.
    case pipe(String)
    /// Numbered pictures: a name with `%d` or `%05d` in it.
    case sequence(String)
    /// A camera's device: `/dev/video0`.
    case camera(String)

    /// What a path leads to; `-` is standard input.
    ///
    /// - Throws: `VideoError` where nothing is there, or nothing that could be a film.
    package init(path: String) throws(VideoError) {
        var status = stat()
        if path == "-" {
            // A file that was redirected can be read in any order, which some films need.
            let isFile = fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            self = isFile ? .file(Self.redirected) : .pipe(path)
            return
        }
        guard stat(path, &status) == 0 else {
            let reason = lastSystemError()
            if NumberedName(path) != nil {
                self = .sequence(path)
                return
            }
            throw VideoError("\(path): \(reason)")
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: self = .file(path)
        case S_IFIFO: self = .pipe(path)
        case S_IFCHR: self = .camera(path)
        case S_IFDIR:
            throw VideoError("\(path): is a folder; a film of its pictures is made of \(path)/NAME-%05d.png")
        default: throw VideoError("\(path): is neither a file nor a camera's device")
        }
    }

    /// Standard input, for other programs too.
    fileprivate static let redirected = "/proc/\(getpid())/fd/0"

    /// For messages.
    package var name: String {
        switch self {
        case .file(let path), .pipe(let path), .sequence(let path), .camera(let path):
            path == "-" || path == Self.redirected ? "standard input" : path
        }
    }
}

/// A size that frames are brought to, their proportions kept.
package struct FittedSize: Equatable, Sendable {
    /// Columns.
    package var width: Int
    /// Rows.
    package var height: Int
    /// Whether all of a frame is shown, with black beside it; else what stands over is cut off.
    package var showsAll: Bool

    /// Creates a size.
    package init(width: Int, height: Int, showsAll: Bool) {
        self.width = width
        self.height = height
        self.showsAll = showsAll
    }
}

/// How a film is read.
package struct ReadingOptions: Equatable, Sendable {
    /// Seconds at its beginning that are passed over.
    package var start: Double?
    /// Seconds that are read at most.
    package var duration: Double?
    /// Columns and rows that a camera is asked for.
    package var cameraSize: (width: Int, height: Int)? {
        get { size.map { ($0[0], $0[1]) } }
        set { size = newValue.map { [$0.width, $0.height] } }
    }
    /// Frames a second that a camera is asked for, or that numbered pictures are shown at.
    package var inputRate: Double?
    /// Whether it begins again when it has ended, without end.
    package var isLooped = false
    /// The size that frames are brought to. Nil: that of the film itself.
    package var frameSize: FittedSize?
    /// Pixels of a picture that are refused when there are more.
    package var maxPixels = 100_000_000

    private var size: [Int]?

    /// Creates options: the whole film, once.
    package init() {}
}

extension FilmSource {
    /// Files only: what a playlist names is not fetched from the network.
    static let protocols = ["-protocol_whitelist", "file,pipe"]

    /// What the programs of ffmpeg have to be told to open it.
    func arguments(_ options: ReadingOptions) -> [String] {
        let rate = options.inputRate.map { ["-framerate", plain($0)] } ?? []
        // Before there is memory for it: a picture may say anything of its size, and a later one something else.
        let most = ["-max_pixels", "\(options.maxPixels)"]
        switch self {
        case .file(let path): return Self.protocols + most + ["-i", "file:" + path]
        case .pipe: return Self.protocols + most + ["-i", "pipe:0"]
        case .sequence(let path):
            let first = NumberedName(path)?.firstNumber() ?? 0
            return ["-f", "image2"] + rate + most + ["-start_number", "\(first)", "-i", "file:" + path]
        case .camera(let path):
            let size = options.cameraSize.map { ["-video_size", "\($0.width)x\($0.height)"] } ?? []
            return ["-f", "v4l2"] + size + rate + most + ["-i", path]
        }
    }
}

/// Seconds or a rate as ffmpeg reads it, never with an exponent; at least 0 and no more than a damaged film could need.
func plain(_ value: Double) -> String {
    let millionths = Int((min(max(0, value), 1e12) * 1e6).rounded())
    let fraction = String(millionths % 1_000_000)
    return "\(millionths / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
}

/// A film that has been opened: what is in it is known, its frames are not read yet.
package final class Film: Sendable {
    /// Where it comes from.
    package let source: FilmSource
    /// How it is read.
    package let options: ReadingOptions
    /// What is in it.
    package let info: VideoInfo
    /// Gives a pipe's bytes to ffprobe and again to the decoder.
    let feed: InputFeed?

    /// Opens a film and finds out what is in it, through the program ffprobe.
    ///
    /// - Throws: `VideoError` where it cannot be read, where there are no pictures in it, or where they are too large.
    package init(_ source: FilmSource, options: ReadingOptions = ReadingOptions()) throws(VideoError) {
        self.source = source
        self.options = options
        if case .pipe(let path) = source {
            let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw VideoError("\(path): cannot be read: \(lastSystemError())") }
            feed = InputFeed(descriptor)
        } else {
            feed = nil
        }
        info = try Self.probe(source, options, feed)
        guard info.width <= options.maxPixels / info.height else {
            throw VideoError(
                "\(source.name): \(info.sizeText) are more than \(options.maxPixels) pixels, the limit; "
                    + "--max-pixels raises it")
        }
    }

    private static func probe(
        _ source: FilmSource, _ options: ReadingOptions, _ feed: InputFeed?
    ) throws(VideoError) -> VideoInfo {
        var child = try ChildProcess(
            ["ffprobe", "-v", "error", "-of", "flat", "-show_entries", VideoInfo.probedEntries]
                + source.arguments(options),
            input: feed == nil ? .nothing : .pipe, limits: .probing(maxPixels: options.maxPixels))
        let complaints = try Complaints(of: child.errors)
        try feed?.begin(into: child.input)
        // The feed has a copy of its own, which it closes where the input ends: the program is not to wait for this one.
        child.closeInput()
        var stream = ByteStream(descriptor: child.output)
        var text: [UInt8] = []
        // What it tells of a film fits many times over.
        let textLimit = 1 << 20
        while text.count <= textLimit, let byte = try stream.next() { text.append(byte) }
        // Nobody would read the rest, and it would wait for that.
        if text.count > textLimit { child.kill() }
        let ending = child.wait()
        guard text.count <= textLimit else {
            throw VideoError("\(source.name): cannot be read as video: it has more than 1 MiB of streams and tags")
        }
        // What it had told by then may be half of it.
        if case .signalled(let signal) = ending {
            let reason =
                signal == SIGXCPU
                ? "what is in it is not found out within a minute" : "ffprobe was ended by signal \(signal)"
            throw VideoError("\(source.name): cannot be read as video: \(reason)")
        }
        if let info = VideoInfo(probed: String(decoding: text, as: UTF8.self)) { return info }
        let complaint = complaints.first
        if feed?.isEmpty == true { throw VideoError("\(source.name): nothing could be read: there is nothing in it") }
        if ending == .exited(0), !text.isEmpty, complaint == nil {
            throw VideoError("\(source.name): there is no video in it")
        }
        throw VideoError("\(source.name): cannot be read as video: \(reason(complaint, source))")
    }

    /// What ffmpeg says, made understandable.
    static func reason(_ complaint: String?, _ source: FilmSource) -> String {
        guard var complaint else { return "there is nothing in it" }
        // It begins with the name that it was given.
        let names = ["file:" + source.name, "file:" + FilmSource.redirected, source.name, "pipe:0"]
        for name in names where complaint.hasPrefix(name + ": ") {
            complaint = String(complaint.dropFirst(name.count + 2))
        }
        if complaint.contains("Cannot allocate memory") { return "it takes more memory than a film may" }
        if case .pipe = source, complaint.contains("partial file") || complaint.contains("Invalid data") {
            complaint += " (an MP4 file with its index at the end cannot come through a pipe)"
        }
        return complaint
    }
}
