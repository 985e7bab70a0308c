import CWebSockets
import Glibc
import WebProtocol

extension Service {
    /// Goes on; 0.
    static let goOn: Int32 = 0
    /// Ends the connection.
    static let end: Int32 = -1

    /// What libwebsockets calls for everything that happens: it has sockets, TLS and timers, and streams of bytes. What the bytes
    /// mean is read by `HTTPHeadReader` and `WebSocketFrameReader`.
    func handle(
        _ wsi: OpaquePointer, _ reason: lws_callback_reasons, _ input: UnsafeMutableRawPointer?, _ count: Int
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_RAW_RX_FILE:
            acceptAll()
            return Self.goOn
        case LWS_CALLBACK_RAW_RX:
            guard let connection = connection(wsi) else { return Self.end }
            take(UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : count), from: connection)
            return Self.goOn
        case LWS_CALLBACK_RAW_WRITEABLE:
            guard let connection = connection(wsi) else { return Self.end }
            return send(on: connection) ? Self.goOn : Self.end
        case LWS_CALLBACK_WSI_DESTROY:
            forget(wsi)
            return Self.goOn
        default: return Self.goOn
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer, from connection: Connection) {
        switch connection.stage {
        case .head, .body:
            connection.unread.append(contentsOf: bytes)
            advance(connection)
        // Nothing is read meanwhile but what was on its way: it is the next request's.
        case .working, .response: connection.unread.append(contentsOf: bytes)
        case .preview: receive(bytes, from: connection)
        case .lingering, .closing: break
        }
    }

    /// Works off what has come, as far as it goes.
    func advance(_ connection: Connection) {
        while !connection.unread.isEmpty {
            switch connection.stage {
            case .head(var reader):
                let bytes = connection.unread
                connection.unread = []
                do throws(HTTPRefusal) {
                    let head = try reader.append(bytes)
                    connection.stage = .head(reader)
                    guard let (request, rest) = head else { return }
                    connection.unread = rest
                    begin(request, on: connection)
                } catch {
                    refuse(HTTPResponse(error), on: connection)
                }
            case .body: takeBody(connection)
            case .preview:
                let bytes = connection.unread
                connection.unread = []
                bytes.withUnsafeBytes { receive($0, from: connection) }
            case .working, .response, .lingering, .closing: return
            }
        }
    }

    /// Sends what is next. False: the connection is broken, or at its end.
    private func send(on connection: Connection) -> Bool {
        if !connection.outgoing.isEmpty {
            guard write(connection.outgoing.removeFirst(), on: connection) else { return false }
            _ = lws_callback_on_writable(connection.wsi)
            return true
        }
        if connection.ends {
            linger(connection)
            return true
        }
        switch connection.stage {
        case .response: return sendResponse(connection)
        case .preview(let session, _): return sendMessage(of: session, on: connection)
        case .head, .body, .working, .lingering, .closing: return true
        }
    }

    /// Ends the connection's own side and waits a little for the other's: closing with bytes that nobody read would take the last
    /// answer back.
    private func linger(_ connection: Connection) {
        connection.ends = false
        connection.stage = .lingering
        connection.unread = []
        connection.deadline = .now + .seconds(Self.farewellSeconds)
        if shared.options.tls == nil { shutdown(lws_get_socket_fd(connection.wsi), Int32(SHUT_WR)) }
        hold(connection, false)
    }

    /// Arranges for bytes to be sent before anything else.
    ///
    /// - Parameter ends: Whether the connection ends with them.
    func enqueue(_ bytes: [UInt8], on connection: Connection, ends: Bool = false) {
        guard !connection.ends else { return }
        connection.outgoing.append(bytes)
        connection.ends = ends
        _ = lws_callback_on_writable(connection.wsi)
    }

    /// Writes bytes with the room before them that libwebsockets wants. False: the connection is broken.
    func write(_ bytes: some Collection<UInt8>, on connection: Connection) -> Bool {
        let padding = cws_padding()
        var buffer = [UInt8](repeating: 0, count: padding)
        buffer.append(contentsOf: bytes)
        shared.metrics.count { $0.bytesSent += bytes.count }
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return cws_write(connection.wsi, start + padding, buffer.count - padding) >= 0
        }
    }

    /// Reads nothing from the other side, or reads again.
    func hold(_ connection: Connection, _ holds: Bool) {
        guard connection.isHeldBack != holds else { return }
        connection.isHeldBack = holds
        lws_rx_flow_control(connection.wsi, holds ? 0 : 1)
    }
}
