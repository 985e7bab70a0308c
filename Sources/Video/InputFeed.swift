import Base
import Dispatch
import Glibc

/// Hands what comes through a pipe to two programs, one after the other: the second one gets all from the beginning.
///
/// So ffprobe can look into a film before ffmpeg reads it.
final class InputFeed: Sendable {
    /// Bytes that are kept for the second program; ffprobe needs about five million.
    private static let limit = 1 << 26

    private let source: Int32
    private let queue = DispatchQueue(label: "silhouette.input")

    /// - Parameter source: What is read; it stays open.
    init(_ source: Int32) { self.source = source }

    /// Begins to write into the first program's pipe, until that has enough.
    func begin(into pipe: Int32) { run(into: pipe, isFirst: true) }

    /// Goes on with the second program's pipe, from the beginning, until the input ends or nobody reads any more.
    func goOn(into pipe: Int32) { run(into: pipe, isFirst: false) }

    /// What the first program was given. Reached by the queue's blocks alone.
    private nonisolated(unsafe) var seen: [UInt8] = []
    private nonisolated(unsafe) var hasEnded = false

    /// Whether the input has ended without a byte. To be asked once the first program has ended: whether a byte comes later
    /// is not waited for.
    var isEmpty: Bool { hasEndedEmpty.withLock(\.self) }
    private let hasEndedEmpty = Locked(false)

    private func run(into pipe: Int32, isFirst: Bool) {
        // A copy: the program's own is closed while this may still wait for input. Where there is none, the program sees
        // an empty input.
        let target = fcntl(pipe, F_DUPFD_CLOEXEC, 3)
        queue.async { [self] in
            if target >= 0 { isFirst ? record(target) : replay(target) }
            close(target)
        }
    }

    private func record(_ target: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while seen.count < Self.limit {
            let count = readSome(&buffer)
            guard count > 0 else {
                hasEnded = true
                return hasEndedEmpty.withLock { $0 = seen.isEmpty }
            }
            seen += buffer[..<count]
            guard buffer[..<count].withUnsafeBytes({ writeAll($0, to: target) }) else { return }
        }
    }

    private func replay(_ target: Int32) {
        let start = seen
        seen = []
        guard start.withUnsafeBytes({ writeAll($0, to: target) }), !hasEnded else { return }
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
