import Base
import Glibc

/// The bytes of a file.
///
/// - Throws: `ServerError` where it is no file, cannot be read or is longer than `limit`.
func readFile(_ path: String, limit: Int) throws(ServerError) -> [UInt8] {
    // Opening a pipe would wait for somebody who writes.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw ServerError("\(path): cannot be read: \(lastSystemError())") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw ServerError("\(path): is no file")
    }
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

/// Makes sure that the process may open so many files and sockets: one that must not accept a connection that waits would be
/// told of it again and again.
///
/// - Throws: `ServerError`, where the system does not allow it.
func reserveDescriptors(_ count: Int, for flag: String) throws(ServerError) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(count) else {
        return
    }
    limit.rlim_cur = rlim_t(count)
    guard count <= limit.rlim_max, setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
        throw ServerError(
            "\(flag): that needs \(count) open files, and this process may have \(limit.rlim_max) (ulimit -Hn)")
    }
}
