import Base
import CWebSockets
import Glibc

/// A socket that is listened on.
struct Listener: ~Copyable {
    /// The socket.
    let descriptor: Int32
    /// The port, also where any free one was asked for.
    let port: Int

    /// Listens.
    ///
    /// - Throws: `ServerError`, one line that says what to do.
    init(host: String, port: Int) throws(ServerError) {
        guard let host = AccessRules.canonical(host == "localhost" ? "127.0.0.1" : host) else {
            throw ServerError("--host is an address like 127.0.0.1, ::1 or 0.0.0.0, not '\(host)'")
        }
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0,
            let address = found
        else { throw ServerError("--host is an address like 127.0.0.1, ::1 or 0.0.0.0, not '\(host)'") }
        defer { freeaddrinfo(found) }

        let descriptor = socket(
            address.pointee.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw ServerError("no socket: \(lastSystemError())") }
        Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        // `::` means IPv4 too.
        if address.pointee.ai_family == AF_INET6 { Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        guard bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0, listen(descriptor, 128) == 0
        else {
            let code = errno
            close(descriptor)
            switch code {
            case EADDRINUSE:
                throw ServerError(
                    "port \(port) is taken by another program; choose one with --port (0: any that is free)")
            case EACCES: throw ServerError("port \(port) may only be used by root; choose one above 1023 with --port")
            case EADDRNOTAVAIL: throw ServerError("--host \(host): this machine does not have that address")
            default: throw ServerError("\(host), port \(port): \(systemErrorText(code))")
            }
        }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        // The port lies in the same place for both families.
        self.port = withUnsafeBytes(of: &storage) {
            Int(UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        }
        self.descriptor = descriptor
    }

    /// Takes the next connection. Nil: there is none.
    static func accept(_ listener: Int32) -> (descriptor: Int32, address: String)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let descriptor = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let descriptor = accept4(
                    listener, address, &length, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
                if descriptor >= 0 {
                    _ = getnameinfo(address, length, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
                }
                return descriptor
            }
        }
        guard descriptor >= 0 else { return nil }
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        // The newest masks must not queue behind old ones in the system: it says "writeable" only once little is unsent.
        set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, 1 << 16)
        return (descriptor, String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
