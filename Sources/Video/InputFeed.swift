import Base
import Glibc

/// Hands what comes through a pipe to two programs, one after the other: the second one gets all from the beginning.
///
/// So ffprobe can look into a film before ffmpeg reads it.
final class InputFeed: Sendable {
    /// What the first program was given.
    private struct Recording {
        var bytes: [UInt8] = []
        var hasEnded = false
        /// Whether there is more to come.
        var isRunning = false
    }

    /// Bytes that are kept for the second program; ffprobe needs about five million.
    private static let limit = 1 << 26

    private let source: Int32
    private let recording = Locked(Recording())

    /// - Parameter source: What is read; it stays open.
    init(_ source: Int32) { self.source = source }

    /// Begins to write into the first program's pipe, until that has enough.
    ///
    /// - Throws: `VideoError` where the system has no thread for it.
    func begin(into pipe: Int32) throws(VideoError) {
        recording.withLock { $0.isRunning = true }
        do throws(VideoError) {
            try run(into: pipe) { [self] target in record(target) }
        } catch {
            recording.withLock { $0.isRunning = false }
            throw error
        }
    }

    /// Goes on with the second program's pipe, from the beginning, until the input ends or nobody reads any more.
    ///
    /// - Throws: `VideoError` where the system has no thread for it.
    func goOn(into pipe: Int32) throws(VideoError) {
        try run(into: pipe) { [self] target in replay(target) }
    }

    /// Whether the input has ended without a byte. To be asked once the first program has ended: whether a byte comes later
    /// is not waited for.
    var isEmpty: Bool { recording.withLock { $0.hasEnded && $0.bytes.isEmpty } }

    private func run(into pipe: Int32, _ body: @escaping (Int32) -> Void) throws(VideoError) {
        // A copy: the program's own is closed while this may still wait for input.
        let target = fcntl(pipe, F_DUPFD_CLOEXEC, 3)
        guard target >= 0 else { throw VideoError("no pipe can be had to another program: \(lastSystemError())") }
        do throws(VideoError) {
            try startThread("input") {
                body(target)
                close(target)
            }
        } catch {
            close(target)
            throw error
        }
    }

    private func record(_ target: Int32) {
        defer { recording.update { $0.isRunning = false } }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var byteCount = 0
        while byteCount < Self.limit {
            let count = readSome(&buffer)
            recording.withLock { recording in
                recording.bytes += buffer[..<max(0, count)]
                recording.hasEnded = count <= 0
            }
            guard count > 0, buffer[..<count].withUnsafeBytes({ writeAll($0, to: target) }) else { return }
            byteCount += count
        }
    }

    private func replay(_ target: Int32) {
        let start = recording.wait { recording -> Recording? in
            guard !recording.isRunning else { return nil }
            defer { recording.bytes = [] }
            return recording
        }
        guard start.bytes.withUnsafeBytes({ writeAll($0, to: target) }), !start.hasEnded else { return }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = readSome(&buffer)
            guard count > 0, buffer[..<count].withUnsafeBytes({ writeAll($0, to: target) }) else { return }
        }
    }

    private func readSome(_ buffer: inout [UInt8]) -> Int {
        while true {
            let count = read(source, &buffer, buffer.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }
}
