import Base
import Glibc

/// What a program says on its standard error, read while it runs so that it never waits to be heard.
final class Complaints: Sendable {
    private struct State {
        var start: [UInt8] = []
        var end: [UInt8] = []
        var hasEnded = false
    }

    /// Bytes that are kept of the beginning and of the end.
    private static let limit = 4096
    private let state = Locked(State())

    /// Reads a descriptor to its end; it must stay open until `lines` has returned.
    ///
    /// - Throws: `VideoError` where the system has no thread for it.
    init(of descriptor: Int32) throws(VideoError) {
        try startThread("complaints") { [self] in
            var buffer = [UInt8](repeating: 0, count: Self.limit)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return state.update { $0.hasEnded = true } }
                state.withLock { state in
                    state.start += buffer[..<min(count, Self.limit - state.start.count)]
                    state.end = (state.end + buffer[..<count]).suffix(Self.limit)
                }
            }
        }
    }

    /// All lines of the beginning and the end, once the program has closed the stream.
    private func lines(_ part: (State) -> [UInt8]) -> [String] {
        let bytes = state.wait { $0.hasEnded ? part($0) : nil }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
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

/// Starts a thread that ends by itself.
func startThread(_ name: String, _ body: @escaping () -> Void) throws(VideoError) {
    do throws(SystemError) {
        try SystemThread(name: name, body).detach()
    } catch {
        throw VideoError(error.description)
    }
}
