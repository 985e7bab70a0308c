import Base
import Glibc

/// Plays a film or a camera through the program ffmpeg: its pictures as JPEG files, all of one size, each when it is due.
///
/// One thread reads.
package final class LiveReader {
    /// What is played.
    package enum Source: Equatable, Sendable {
        /// A file, at its own pace, over and over.
        case film(String)
        /// A camera's device.
        case camera(String)
    }

    /// A picture.
    package struct Picture: Equatable, Sendable {
        /// A JPEG file.
        package var file: [UInt8]
        /// Columns.
        package var width: Int
        /// Rows.
        package var height: Int
    }

    /// Why no more bytes come.
    private enum StreamEnd {
        case programEnded
        case notWanted
    }

    /// Pixels of a picture before it is made smaller: more than those of 8K.
    private static let pixelLimit = 40_000_000

    /// How long it waits for bytes before it asks again whether they are wanted, in milliseconds.
    private static let patience: Int32 = 100

    private let child: ChildProcess
    private let complaints: Complaints
    private let fileByteLimit: Int
    private let stream: ByteStream
    private let end = Locked<StreamEnd?>(nil)
    private var reader: NUTReader?

    /// Starts ffmpeg.
    ///
    /// - Parameters:
    ///   - widthLimit: Wider pictures are made smaller.
    ///   - rateLimit: Pictures a second; of more some are left out.
    ///   - fileByteLimit: Bytes that a picture may have.
    ///   - isWanted: Whether to go on; asked at least ten times a second.
    package convenience init(
        _ source: Source, widthLimit: Int, rateLimit: Int, fileByteLimit: Int, isWanted: @escaping () -> Bool
    ) throws(VideoError) {
        // `file:` keeps ffmpeg from taking a name for an address.
        let most = ["-max_pixels", "\(Self.pixelLimit)"]
        let input =
            switch source {
            case .film(let path): FilmSource.protocols + most + ["-re", "-stream_loop", "-1", "-i", "file:" + path]
            case .camera(let path): ["-f", "v4l2"] + most + ["-i", path]
            }
        try self.init(
            ["ffmpeg", "-nostdin", "-hide_banner", "-v", "error"] + input + [
                "-an", "-sn", "-dn", "-map", "0:v:0", "-vf", "scale=w='min(\(widthLimit),iw)':h=-2", "-fpsmax",
                "\(rateLimit)", "-pix_fmt", "yuvj420p", "-c:v", "mjpeg", "-q:v", "4", "-write_index", "0",
                "-flush_packets", "1", "-f", "nut", "pipe:1",
            ], fileByteLimit: fileByteLimit, isWanted: isWanted)
    }

    /// Starts a program that writes NUT to its standard output.
    package init(_ arguments: [String], fileByteLimit: Int, isWanted: @escaping () -> Bool) throws(VideoError) {
        child = try ChildProcess(arguments, limits: .decoding(pixelCount: Self.pixelLimit))
        complaints = try Complaints(of: child.errors)
        self.fileByteLimit = fileByteLimit
        let (descriptor, end) = (child.output, end)
        stream = ByteStream { (buffer) throws(VideoError) in
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while isWanted() {
                let count = poll(&wait, 1, Self.patience)
                if count == 0 || (count < 0 && errno == EINTR) { continue }
                let byteCount = try ByteStream.read(descriptor, into: buffer)
                if byteCount == 0 { end.withLock { $0 = .programEnded } }
                return byteCount
            }
            end.withLock { $0 = .notWanted }
            return 0
        }
    }

    /// Ends ffmpeg.
    deinit {
        // With all that it started, since whoever can complain is waited for: the descriptor must stay open until all is read.
        kill(-child.id, SIGKILL)
        _ = complaints.last
    }

    /// The next picture. Nil: the program has ended, and `complaint` may say why; or no more is wanted.
    ///
    /// - Throws: `VideoError` where what comes is damaged, or a picture has too many bytes.
    package func next() throws(VideoError) -> Picture? {
        do throws(VideoError) {
            if reader == nil { reader = try NUTReader(stream, fileByteLimit: fileByteLimit) }
            guard let track = reader?.track, let frame = try reader?.next() else { return nil }
            guard track.content == .jpeg else { throw VideoError("the pictures of ffmpeg are no JPEG") }
            return Picture(file: frame.bytes, width: track.width, height: track.height)
        } catch {
            // What it ends in the middle of is no damage.
            guard end.withLock({ $0 }) == nil else { return nil }
            throw error
        }
    }

    /// What the program complained of last, in one line. Nil where it has not ended by itself.
    package var complaint: String? { end.withLock { $0 } == .programEnded ? complaints.last : nil }
}
