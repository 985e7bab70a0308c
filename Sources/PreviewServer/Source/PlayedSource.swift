import Base
import Glibc
import PreviewProtocol
import Synchronization
import Video

/// Plays a video file over and over, or a camera, through the program ffmpeg, as a stream of JPEG files.
///
/// A file is played at its own pace. Nothing runs while nobody watches.
final class PlayedSource: @unchecked Sendable {
    /// Frames are made no larger than this, and no more a second.
    private static let widthLimit = 1280
    private static let frameRateLimit = 30
    /// How long it goes on playing to nobody.
    private static let patience = Duration.seconds(5)
    /// How long the first frame may take.
    private static let startLimit = Duration.seconds(20)

    private let path: String
    private let arguments: [String]
    private let byteLimit: Int
    private let broadcast: Broadcast
    private let isStopping = Atomic<Bool>(false)
    private let start = ContinuousClock.now
    private var thread: SystemThread?

    /// Looks whether the source can be played: its first frame is decoded.
    ///
    /// - Throws: `ServerError`, one line.
    init(path: String, byteLimit: Int, broadcast: Broadcast) throws(ServerError) {
        self.path = path
        self.byteLimit = byteLimit
        self.broadcast = broadcast
        var status = stat()
        guard stat(path, &status) == 0 else { throw ServerError("--source \(path): \(lastSystemError())") }
        let isDevice = status.st_mode & S_IFMT == S_IFCHR
        guard isDevice || status.st_mode & S_IFMT == S_IFREG else {
            throw ServerError("--source \(path): is neither a file nor a camera's device")
        }
        // `file:` keeps ffmpeg from taking a name for an address.
        let input = isDevice ? ["-f", "v4l2", "-i", path] : ["-re", "-stream_loop", "-1", "-i", "file:" + path]
        arguments =
            ["ffmpeg", "-nostdin", "-hide_banner", "-v", "error"] + input + [
                "-an", "-sn", "-dn", "-map", "0:v:0", "-vf", "scale=w='min(\(Self.widthLimit),iw)':h=-2",
                "-fpsmax", "\(Self.frameRateLimit)", "-pix_fmt", "yuvj420p", "-c:v", "mjpeg", "-q:v", "4", "-f",
                "image2pipe", "-",
            ]
        let limit = ContinuousClock.now + Self.startLimit
        var hasFrame = false
        let complaint = try play { file in
            if file != nil { hasFrame = true }
            return !hasFrame && ContinuousClock.now < limit
        }
        guard hasFrame else { throw ServerError("--source \(path): \(complaint ?? "there is no picture in it")") }
    }

    /// Begins to play, once somebody watches.
    ///
    /// - Throws: `ServerError` where the system has no thread left.
    func run() throws(ServerError) {
        do throws(SystemError) {
            // `stop` joins the thread before this object may go away.
            thread = try SystemThread(name: "source") { [unowned self] in loop() }
        } catch {
            throw ServerError("--source \(path): \(error)")
        }
    }

    /// Ends; no frame comes afterwards.
    func stop() {
        isStopping.store(true, ordering: .sequentiallyConsistent)
        thread?.join()
        thread = nil
    }

    private var isStopped: Bool { isStopping.load(ordering: .sequentiallyConsistent) }

    private func loop() {
        while !isStopped {
            guard !broadcast.isUnwatched else {
                usleep(50_000)
                continue
            }
            var lastWatched = ContinuousClock.now
            var complaint: String?
            do throws(ServerError) {
                complaint = try play { [self] file in
                    let now = ContinuousClock.now
                    if let file {
                        let microseconds = UInt64((now - start) / .microseconds(1))
                        broadcast.show(file.bytes, width: file.width, height: file.height, microseconds: microseconds)
                    }
                    if !broadcast.isUnwatched { lastWatched = now }
                    return !isStopped && now - lastWatched < Self.patience
                }
            } catch {
                complaint = error.description
            }
            guard !isStopped, !broadcast.isUnwatched else { continue }
            // The camera was unplugged, for instance: it may come back.
            broadcast.tell(
                ProtocolError(.internal, "\(path) ended: \(complaint ?? "no reason was given"); trying again"))
            for _ in 0..<20 where !isStopped { usleep(50_000) }
        }
    }

    /// Runs ffmpeg until it ends or `take` says no.
    ///
    /// - Parameter take: Gets each frame, and nil when a tenth of a second has passed without one.
    /// - Returns: The last line that ffmpeg complained with.
    private func play(_ take: (JPEGSplitter.File?) -> Bool) throws(ServerError) -> String? {
        let child: ChildProcess
        do throws(VideoError) {
            child = try ChildProcess(arguments)
        } catch {
            throw ServerError(error.description)
        }
        var splitter = JPEGSplitter(byteLimit: byteLimit, room: MessageHeader.byteCount)
        var complaints = ""
        var buffer = [UInt8](repeating: 0, count: 1 << 17)
        var waits = [
            pollfd(fd: child.output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: child.errors, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard poll(&waits, 2, 100) >= 0 else {
                if errno == EINTR { continue }
                return lastSystemError()
            }
            if waits[1].revents != 0 {
                let count = read(child.errors, &buffer, 4096)
                if count > 0 {
                    complaints = String((complaints + String(decoding: buffer[..<count], as: UTF8.self)).suffix(4096))
                }
                if count == 0 { waits[1].fd = -1 }
            }
            guard waits[0].revents != 0 else {
                guard take(nil) else { return nil }
                continue
            }
            let count = read(child.output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            buffer.withUnsafeBytes { splitter.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            while let file = try splitter.next() {
                guard take(file) else { return nil }
            }
        }
        // It has ended: what it said last is why.
        while waits[1].fd >= 0 {
            let count = read(child.errors, &buffer, 4096)
            guard count > 0 else { break }
            complaints += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return complaints.split(whereSeparator: \.isNewline).last.map { "ffmpeg: \($0.prefix(200))" }
    }
}
