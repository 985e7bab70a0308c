import Glibc

/// What libwebsockets says of failures, to the thread that called it: servers that start side by side do not read each
/// other's reasons.
enum Log {
    private final class Lines {
        var all: [String] = []
    }

    /// Of a thread's lines, which go when it ends.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let failure = pthread_key_create(&key) { lines in
            if let lines { Unmanaged<Lines>.fromOpaque(lines).release() }
        }
        precondition(failure == 0, "a process has more than a thousand such keys")
        return key
    }()

    private static var lines: Lines {
        if let known = pthread_getspecific(key) { return Unmanaged<Lines>.fromOpaque(known).takeUnretainedValue() }
        let lines = Lines()
        pthread_setspecific(key, Unmanaged.passRetained(lines).toOpaque())
        return lines
    }

    /// The calling thread's lines since `reset`, at most 20.
    static var all: [String] { lines.all }

    static func emit(_ line: UnsafePointer<CChar>?) {
        guard let line else { return }
        let lines = lines
        lines.all = lines.all.suffix(19) + [String(cString: line).filter { !$0.isNewline }]
    }

    static func reset() { lines.all = [] }

    /// The last line.
    static var last: String { all.last ?? "no reason was given" }
}
