import Base
import Dispatch
import Glibc

/// What a program says on its standard error, read while it runs so that it never waits to be heard.
final class Complaints: Sendable {
    private struct State {
        var start: [UInt8] = []
        var end: [UInt8] = []
    }

    /// Bytes that are kept of the beginning and of the end.
    private static let limit = 4096
    private let state = Locked(State())
    private let queue = DispatchQueue(label: "silhouette.complaints")

    /// Reads a descriptor to its end; it must stay open until `lines` has returned.
    init(of descriptor: Int32) {
        queue.async { [self] in
            var buffer = [UInt8](repeating: 0, count: Self.limit)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                state.withLock { state in
                    state.start += buffer[..<min(count, Self.limit - state.start.count)]
                    state.end = (state.end + buffer[..<count]).suffix(Self.limit)
                }
            }
        }
    }

    /// All lines of the beginning and the end, once the program has closed the stream.
    private func lines(_ part: (State) -> [UInt8]) -> [String] {
        queue.sync {}
        return String(decoding: state.withLock { part($0) }, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { Self.cleaned(String($0)) }.filter { !$0.isEmpty && !$0.contains("Last message repeated") }
    }

    /// What it said first; nil where it said nothing. Waits for the program to end.
    var first: String? { lines(\.start).first }

    /// What it said last; nil where it said nothing. Waits for the program to end.
    var last: String? { lines(\.end).last }

    /// What it could not write, at the end above all: ffmpeg then ends as if nothing had happened. Waits for the program to end.
    var loss: String? {
        lines(\.end).first { line in
            ["av_interleaved_write_frame", "Error writing", "Error closing", "Error muxing"].contains {
                line.hasPrefix($0)
            }
        }
    }

    /// The line without the address of whatever speaks: `[mov @ 0x55b6]`.
    static func cleaned(_ line: String) -> String {
        var line = line[...]
        while line.hasPrefix("["), let end = line.firstIndex(of: "]"), line[..<end].contains(" @ 0x") {
            line = line[line.index(after: end)...].drop { $0 == " " }
        }
        return String(line.drop { $0 == " " }.prefix(200))
    }
}
