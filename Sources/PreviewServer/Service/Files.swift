import Glibc

/// The bytes of a file.
///
/// - Throws: `ServerError` where it cannot be read or is longer than `limit`.
func readFile(_ path: String, limit: Int) throws(ServerError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ServerError("\(path): cannot be read: \(lastSystemError())") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw ServerError("\(path): cannot be read: \(lastSystemError())") }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
        guard bytes.count <= limit else { throw ServerError("\(path): more than \(limit) bytes") }
    }
}

/// What the system says about the last call that failed.
func lastSystemError() -> String { String(cString: strerror(errno)) }
