import WebProtocol
import Base
import CWebSockets
import Glibc

/// The thread that owns all connections.
///
/// Other threads only call `wake`, `finish` and `stop`. What they leave is taken up between two rounds of libwebsockets.
final class Service: @unchecked Sendable {
    /// What other threads leave for the service thread.
    private struct Inbox {
        /// libwebsockets' context while it may be woken.
        var waker: OpaquePointer?
        /// Connections that have something to send.
        var announced: [Int] = []
        /// Responses that were made.
        var responses: [(connection: Int, response: HTTPResponse)] = []
        var isStopping = false
    }

    let shared: ServerContext
    let router: Router
    private let inbox = Locked(Inbox())

    // The service thread's own.
    private let listener: Int32
    private let protocols: UnsafeMutablePointer<lws_protocols>
    private let names: [UnsafeMutablePointer<CChar>]
    private let tickTimer = UnsafeMutablePointer<lws_sorted_usec_list_t>.allocate(capacity: 1)
    private var context: OpaquePointer?
    private var host: OpaquePointer?
    var connections: [Int: Connection] = [:]
    private var connectionCounts: [String: Int] = [:]
    private var nextConnection = 1
    private var listenerConnection: OpaquePointer?
    private(set) var isStopping = false
    private var thread: SystemThread?

    /// How long pages may take to notice that the server ends.
    static let farewellSeconds = 1.0
    /// A piece of a response's body that is written at once.
    static let chunkByteCount = 1 << 16

    /// Takes over a listening socket.
    ///
    /// - Throws: `ServerError` where libwebsockets refuses, the certificate for instance.
    init(_ shared: ServerContext, router: Router, listener: Int32) throws(ServerError) {
        self.shared = shared
        self.router = router
        self.listener = listener
        names = Self.protocolNames.compactMap { (name: String) in strdup(name) }
        protocols = .allocate(capacity: names.count + 1)
        protocols.initialize(repeating: lws_protocols(), count: names.count + 1)
        for (index, name) in names.enumerated() {
            protocols[index].name = UnsafePointer(name)
            protocols[index].callback = { wsi, reason, _, input, count in
                // Always on the service thread, or on the one that creates and destroys the context.
                guard let wsi, let context = lws_get_context(wsi), let service = lws_context_user(context) else {
                    return 0
                }
                return Unmanaged<Service>.fromOpaque(service).takeUnretainedValue().handle(wsi, reason, input, count)
            }
            protocols[index].rx_buffer_size = 1 << 16
            // As much as the system takes at once, instead of a copy of the rest in libwebsockets.
            protocols[index].tx_packet_size = 1 << 22
        }
        tickTimer.initialize(to: lws_sorted_usec_list_t())
        lws_set_log_level(Int32(LLL_ERR | LLL_WARN), { _, line in Log.emit(line) })
        Log.reset()
        let tls = shared.options.tls
        let tlsFiles = tls.map { TLSFiles(certificate: $0.certificate, key: $0.key) }
        do throws(ServerError) {
            try tlsFiles?.check()
        } catch {
            close(listener)
            throw error
        }
        let certificate = tls.map { strdup($0.certificate) }
        let key = tls.map { strdup($0.key) }
        defer {
            free(certificate ?? nil)
            free(key ?? nil)
        }
        var options = cws_options()
        options.protocols = UnsafePointer(protocols)
        options.user = Unmanaged.passUnretained(self).toOpaque()
        options.connection_limit = UInt32(shared.options.limits.connectionCount)
        options.certificate = UnsafePointer(certificate ?? nil)
        options.key = UnsafePointer(key ?? nil)
        guard let context = cws_create(&options) else {
            close(listener)
            throw tlsFiles?.refusal(Log.all) ?? ServerError("libwebsockets does not start: \(Log.last)")
        }
        self.context = context
        host = lws_get_vhost_by_name(context, "silhouette")
        guard let host, let connection = cws_adopt_listener(host, listener, Self.protocolNames[1]) else {
            lws_context_destroy(context)
            self.context = nil
            throw ServerError("libwebsockets does not watch the port: \(Log.last)")
        }
        listenerConnection = connection
        inbox.withLock { $0.waker = context }
    }

    deinit {
        if let context { lws_context_destroy(context) }
        protocols.deallocate()
        for name in names { free(name) }
        tickTimer.deallocate()
    }

    /// The subprotocol that pages ask for.
    static func previewProtocol(_ version: UInt8) -> String { "silhouette.preview.\(version)" }
    /// What libwebsockets knows: connections, and the listening socket.
    private static let protocolNames = ["connection", "listener"]

    // Any thread.

    /// Starts the thread.
    ///
    /// - Throws: `ServerError` where the system has none left.
    func start() throws(ServerError) {
        do throws(SystemError) {
            thread = try SystemThread(name: "preview") { self.run() }
        } catch {
            throw ServerError("the server cannot run: \(error)")
        }
    }

    /// Ends the thread: pages are told, then all connections are closed.
    func stop() {
        inbox.withLock { inbox in
            inbox.isStopping = true
            if let context = inbox.waker { lws_cancel_service(context) }
        }
    }

    /// Waits until the thread has ended.
    func join() { thread?.join() }

    /// Tells that a connection has something to send.
    func announce(_ connection: Int) { leave { $0.announced.append(connection) } }

    /// Hands in the response to a request.
    func finish(_ connection: Int, _ response: HTTPResponse) { leave { $0.responses.append((connection, response)) } }

    private func leave(_ body: (inout Inbox) -> Void) {
        inbox.withLock { inbox in
            body(&inbox)
            if let context = inbox.waker { lws_cancel_service(context) }
        }
    }

    // The service thread.

    private func run() {
        guard let context else { return }
        var nextTick = ContinuousClock.now
        var end: ContinuousClock.Instant?
        while true {
            let now = ContinuousClock.now
            if now >= nextTick {
                tick(now)
                nextTick = now + .milliseconds(500)
                // Ends the next wait in time; the callback itself has nothing to do.
                lws_sul_schedule(context, 0, tickTimer, { _ in }, 500_000)
            }
            guard lws_service(context, 0) >= 0 else { break }
            takeUp()
            if isStopping {
                if end == nil {
                    end = ContinuousClock.now + .seconds(Self.farewellSeconds)
                    sayFarewell()
                }
                if let end, connections.isEmpty || ContinuousClock.now >= end { break }
            }
        }
        inbox.withLock { $0.waker = nil }
        lws_context_destroy(context)
        self.context = nil
        connections.removeAll()
    }

    private func takeUp() {
        let (announced, responses, stops) = inbox.withLock { inbox in
            defer {
                inbox.announced.removeAll(keepingCapacity: true)
                inbox.responses.removeAll(keepingCapacity: true)
            }
            return (inbox.announced, inbox.responses, inbox.isStopping)
        }
        if stops { isStopping = true }
        for id in announced {
            if let connection = connections[id] { _ = lws_callback_on_writable(connection.wsi) }
        }
        for (id, response) in responses {
            guard let connection = connections[id], case .working(let request) = connection.stage else { continue }
            answer(response, to: request, on: connection)
        }
    }

    private func sayFarewell() {
        if let listenerConnection {
            lws_set_timeout(listenerConnection, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC)
        }
        listenerConnection = nil
        for connection in connections.values {
            if connection.session != nil {
                _ = lws_callback_on_writable(connection.wsi)
            } else {
                end(connection)
            }
        }
    }

    /// Ends a connection without a word.
    func end(_ connection: Connection) {
        connection.deadline = .now + .seconds(3600)
        lws_set_timeout(connection.wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC)
    }

    /// Ends connections that take too long, and asks silent ones whether they are there.
    private func tick(_ now: ContinuousClock.Instant) {
        let idle = Duration.seconds(shared.options.limits.idleSeconds)
        for connection in connections.values {
            guard connection.session != nil else {
                if now >= connection.deadline { end(connection) }
                continue
            }
            let silence = now - connection.lastHeard
            let isSlow = connection.messageStart.map { now - $0 > .seconds(shared.options.limits.bodySeconds) } ?? false
            if silence > idle || isSlow {
                connection.lastHeard = now
                end(connection)
            } else if silence > idle / 3, !connection.isPinged {
                connection.isPinged = true
                connection.needsPing = true
                _ = lws_callback_on_writable(connection.wsi)
            }
        }
    }

    /// Takes all who wait at the door.
    func acceptAll() {
        while let (descriptor, address) = Listener.accept(listener) {
            let limits = shared.options.limits
            guard !isStopping, connections.count < limits.connectionCount,
                connectionCounts[address, default: 0] < limits.connectionCountPerAddress, let host
            else {
                shared.metrics.count { $0.connectionsRefused += 1 }
                Self.turnAway(descriptor)
                continue
            }
            let usesTLS: Int32 = shared.options.tls == nil ? 0 : 1
            guard let wsi = cws_adopt_connection(host, descriptor, Self.protocolNames[0], usesTLS) else { continue }
            let now = ContinuousClock.now
            let connection = Connection(
                id: nextConnection, wsi: wsi, address: address, now: now, deadline: now + .seconds(limits.headSeconds))
            nextConnection += 1
            connections[connection.id] = connection
            connectionCounts[address, default: 0] += 1
            lws_set_opaque_user_data(wsi, UnsafeMutableRawPointer(bitPattern: connection.id))
            shared.metrics.count {
                $0.connections += 1
                $0.connectionsTotal += 1
            }
        }
    }

    private static func turnAway(_ descriptor: Int32) {
        var response = HTTPResponse.text(503, "too many connections", [("Retry-After", "5")]).head(closes: true)
        response += "too many connections\n".utf8
        _ = Glibc.send(descriptor, response, response.count, Int32(MSG_NOSIGNAL))
        shutdown(descriptor, Int32(SHUT_WR))
        // The request is there already, mostly: closing with bytes that nobody read would take the answer back.
        var buffer = [UInt8](repeating: 0, count: 16_384)
        _ = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        close(descriptor)
    }

    /// The connection of libwebsockets' name.
    func connection(_ wsi: OpaquePointer) -> Connection? {
        lws_get_opaque_user_data(wsi).flatMap { connections[Int(bitPattern: $0)] }
    }

    /// Forgets a connection that has ended.
    func forget(_ wsi: OpaquePointer) {
        guard let connection = connection(wsi) else { return }
        connection.session?.end()
        connection.stage = .closing
        connections[connection.id] = nil
        let count = connectionCounts[connection.address, default: 1] - 1
        connectionCounts[connection.address] = count > 0 ? count : nil
        shared.metrics.count { $0.connections -= 1 }
    }
}
