import Base
import Glibc
import PreviewProtocol
import Synchronization
import Video

/// Plays a video file over and over, or a camera, to all who watch.
///
/// Nothing runs while nobody does.
final class PlayedSource: @unchecked Sendable {
    /// Frames are made no larger than this, and no more a second.
    private static let widthLimit = 1280
    private static let rateLimit = 30
    /// How long it goes on playing to nobody.
    private static let patience = Duration.seconds(5)
    /// How long the first frame may take.
    private static let startLimit = Duration.seconds(20)

    private let path: String
    private let source: LiveReader.Source
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
        source = isDevice ? .camera(path) : .film(path)
        let limit = ContinuousClock.now + Self.startLimit
        do throws(VideoError) {
            let reader = try reader { ContinuousClock.now < limit }
            guard try reader.next() == nil else { return }
            throw VideoError(reader.complaint.map(Self.saying) ?? "there is no picture in it")
        } catch {
            throw ServerError("--source \(path): \(error)")
        }
    }

    private func reader(_ isWanted: @escaping () -> Bool) throws(VideoError) -> LiveReader {
        try LiveReader(
            source, widthLimit: Self.widthLimit, rateLimit: Self.rateLimit, fileByteLimit: byteLimit, isWanted: isWanted
        )
    }

    private static func saying(_ complaint: String) -> String { "ffmpeg: \(complaint)" }

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
            let complaint = play()
            guard !isStopped, !broadcast.isUnwatched else { continue }
            // The camera was unplugged, for instance: it may come back.
            broadcast.tell(
                ProtocolError(.internal, "\(path) ended: \(complaint ?? "no reason was given"); trying again"))
            for _ in 0..<20 where !isStopped { usleep(50_000) }
        }
    }

    /// Plays until the source ends or nobody watches any more.
    ///
    /// - Returns: Why it ended, where that is known.
    private func play() -> String? {
        var lastWatched = ContinuousClock.now
        func isWanted() -> Bool {
            if !broadcast.isUnwatched { lastWatched = .now }
            return !isStopped && ContinuousClock.now - lastWatched < Self.patience
        }
        do throws(VideoError) {
            let reader = try reader(isWanted)
            while let picture = try reader.next() {
                broadcast.show(
                    picture.file, width: picture.width, height: picture.height,
                    microseconds: UInt64((ContinuousClock.now - start) / .microseconds(1)))
            }
            return reader.complaint.map(Self.saying)
        } catch {
            return error.description
        }
    }
}
