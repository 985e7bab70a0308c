import Glibc

/// Small text files: what the kernel tells, and results of earlier runs. A pipe is read to its end.
enum SystemFile {
    /// All bytes of a file, at most `limit`; nil where it cannot be read (`errno` says why) or is larger (`errno` is
    /// `EFBIG`).
    static func bytes(_ path: String, limit: Int = 1 << 20) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= limit else {
                errno = EFBIG
                return nil
            }
        }
    }

    /// The text of a file of the kernel's; nil where it is not there.
    static func text(_ path: String) -> String? { bytes(path).map { String(decoding: $0, as: UTF8.self) } }

    /// The number that a file of the kernel's consists of.
    static func number(_ path: String) -> Double? {
        text(path).flatMap { $0.split(whereSeparator: \.isWhitespace).first }.flatMap { Double($0) }
    }
}
