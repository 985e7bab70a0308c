import Base
import CWebSockets
import Glibc

/// The live preview: pages send frames, or watch the server's own source, and get masks.
///
///     let server = try PreviewServer(ServerOptions(), models: [model])
///     print(server.address)
///     server.stop()
package final class PreviewServer: Sendable {
    /// Where the page is, with the token where one is needed: `http://127.0.0.1:8420/`.
    package let address: String
    /// The port.
    package let port: Int
    private let context: ServerContext
    private let service: Service
    private let source: PlayedSource?
    private let isStopped = Locked(false)

    /// Listens and starts to serve.
    ///
    /// - Parameter models: At least one; the first is the default.
    /// - Throws: `ServerError`, one line that says what to do.
    package init(_ options: ServerOptions, models: [ServedModel]) throws {
        precondition(!models.isEmpty, "a server needs a model")
        guard AccessRules.isLoopback(options.host) || options.token != nil else {
            throw ServerError("--host \(options.host) lets other machines connect, which needs a --token")
        }
        guard options.token != "" else { throw ServerError("an empty --token keeps nobody out") }
        try reserveDescriptors(options.limits.connectionCount + 128, for: "--max-connections")
        var files = StaticFiles()
        if let folder = options.webFolder { files = try StaticFiles(folder: folder) }
        var sourceName: String?
        if case .played(let path) = options.source {
            sourceName = path.split(separator: "/").last.map { String($0) } ?? path
        }
        context = try ServerContext(options, models: models, sourceName: sourceName)
        if case .played(let path) = options.source, let broadcast = context.broadcast {
            source = try PlayedSource(path: path, byteLimit: options.limits.messageByteCount, broadcast: broadcast)
        } else {
            source = nil
        }
        let listener = try Listener(host: options.host, port: options.port)
        let rules = AccessRules(
            host: options.host, port: listener.port, usesTLS: options.tls != nil, token: options.token,
            allowedOrigins: options.allowedOrigins)
        let router = try Router(rules, files: files, context: context)
        service = try Service(context, router: router, listener: listener.descriptor)
        port = listener.port
        address = Self.address(options, port: port)
        try service.start()
        try source?.run()
    }

    deinit { stop() }

    /// Has the whole process give freed memory back to the system: what pages send comes and goes in megabytes. For programs that
    /// do little but serve.
    package static func returnFreedMemory() { cws_return_freed_memory() }

    /// Tells pages that the server ends, closes all connections and waits until that is done.
    package func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        source?.stop()
        service.stop()
        service.join()
        context.stop()
    }

    private static func address(_ options: ServerOptions, port: Int) -> String {
        let address = AccessRules.canonical(options.host) ?? options.host
        let isEverywhere = address == "0.0.0.0" || address == "::"
        let host = isEverywhere ? hostName() : address.contains(":") ? "[\(address)]" : address
        let token = options.token.map { "?token=\($0)" } ?? ""
        return "\(options.tls == nil ? "http" : "https")://\(host):\(port)/\(token)"
    }

    /// An address of this machine that others reach; else the loopback address.
    private static func hostName() -> String {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return "127.0.0.1" }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let address = entry.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET),
                Int32(entry.ifa_flags) & Int32(IFF_LOOPBACK) == 0
            else { continue }
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, length, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return "127.0.0.1"
    }
}
