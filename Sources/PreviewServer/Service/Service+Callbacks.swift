import CWebSockets
import PreviewProtocol

extension Service {
    /// Goes on; 0.
    private static let goOn: Int32 = 0
    /// Ends the connection.
    private static let end: Int32 = -1

    /// What libwebsockets calls for everything that happens.
    func handle(
        _ wsi: OpaquePointer, _ reason: lws_callback_reasons, _ input: UnsafeMutableRawPointer?, _ count: Int
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_RAW_RX_FILE: acceptAll()
        case LWS_CALLBACK_HTTP: return beginRequest(wsi, input, count)
        case LWS_CALLBACK_HTTP_BODY: return takeBody(wsi, input, count)
        case LWS_CALLBACK_HTTP_BODY_COMPLETION: return endBody(wsi)
        case LWS_CALLBACK_HTTP_WRITEABLE: return sendResponse(wsi)
        case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return confirmUpgrade(wsi, input)
        case LWS_CALLBACK_ESTABLISHED: return beginSession(wsi)
        case LWS_CALLBACK_RECEIVE: receive(wsi, input, count)
        case LWS_CALLBACK_RECEIVE_PONG: heard(wsi)
        case LWS_CALLBACK_SERVER_WRITEABLE: return sendMessage(wsi)
        case LWS_CALLBACK_WSI_DESTROY: forget(wsi)
        default: break
        }
        return Self.goOn
    }

    // HTTP.

    private func beginRequest(_ wsi: OpaquePointer, _ input: UnsafeMutableRawPointer?, _ count: Int) -> Int32 {
        guard let connection = connection(wsi) else { return Self.end }
        let request = readRequest(wsi, path: text(input, count))
        switch router.answer(to: request) {
        case .response(let response):
            return request.hasBody
                ? refuse(response, on: connection) : answer(response, to: request, on: connection)
        case .body(let limit):
            guard let length = request.fields["content-length"].flatMap({ Int($0) }), length >= 0,
                request.fields["transfer-encoding"] == nil
            else { return refuse(.text(411, "the request needs a Content-Length"), on: connection) }
            guard length <= limit else { return refuse(.text(413, "more than \(limit) bytes"), on: connection) }
            guard length > 0 else { return refuse(.text(400, "the request has no body"), on: connection) }
            connection.share = shared.budget.share()
            connection.stage = .body(request, [], byteCount: length)
            connection.deadline = .now + .seconds(shared.options.limits.bodySeconds)
            if request.fields["expect"]?.lowercased() == "100-continue" {
                return write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), LWS_WRITE_HTTP_HEADERS, wsi)
                    ? Self.goOn : Self.end
            }
            return Self.goOn
        }
    }

    private func takeBody(_ wsi: OpaquePointer, _ input: UnsafeMutableRawPointer?, _ count: Int) -> Int32 {
        guard let connection = connection(wsi) else { return Self.end }
        guard case .body(let request, var bytes, let byteCount) = connection.stage else { return Self.end }
        // Of what has come, not of what was announced: announcing costs nothing.
        guard connection.share?.grow(by: count) ?? false else {
            return refuse(.text(503, "too much is waiting in the server"), on: connection)
        }
        connection.stage = .closing  // so that `bytes` is not copied
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: input, count: count))
        shared.metrics.count { $0.bytesReceived += count }
        guard bytes.count <= byteCount else { return Self.end }
        connection.stage = .body(request, bytes, byteCount: byteCount)
        return Self.goOn
    }

    private func endBody(_ wsi: OpaquePointer) -> Int32 {
        guard let connection = connection(wsi) else { return Self.end }
        // A second request came behind the body. libwebsockets takes it for more of that, and calls again and again until it is
        // answered: it would do nothing else.
        guard case .body(let request, let bytes, let byteCount) = connection.stage else { return Self.end }
        guard bytes.count == byteCount else { return Self.end }
        connection.stage = .working(request)
        connection.deadline = .now + .seconds(shared.options.limits.bodySeconds * 10)
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0)
        let (id, share) = (connection.id, connection.share)
        router.post(request, body: bytes) { [self] response in
            // Until then the body takes memory, whether or not anybody still waits for the response.
            withExtendedLifetime(share) { finish(id, response) }
        }
        return Self.goOn
    }

    /// Answers from within a callback of a request.
    private func answer(_ response: HTTPResponse, to request: HTTPRequest, on connection: Connection) -> Int32 {
        prepare(response, to: request, on: connection)
        return Self.goOn
    }

    /// Answers from within a callback, and ends the connection: nobody reads the rest of what comes.
    private func refuse(_ response: HTTPResponse, on connection: Connection) -> Int32 {
        shared.metrics.count { $0.requests[response.status, default: 0] += 1 }
        _ = write(response.head(closes: true) + response.body, LWS_WRITE_HTTP_HEADERS, connection.wsi)
        connection.stage = .closing
        return Self.end
    }

    /// Arranges for a response to be sent.
    func prepare(_ response: HTTPResponse, to request: HTTPRequest, on connection: Connection) {
        connection.share = nil
        shared.metrics.count { $0.requests[response.status, default: 0] += 1 }
        let closes = request.fields["connection"]?.lowercased() == "close" || isStopping
        var sent = response
        // After HEAD the head of what would come, without it.
        sent.body = response.head(closes: closes) + (request.method == "HEAD" ? [] : response.body)
        connection.stage = .response(sent, position: 0, closes: closes)
        connection.deadline = .now + .seconds(shared.options.limits.bodySeconds)
        _ = lws_callback_on_writable(connection.wsi)
    }

    private func sendResponse(_ wsi: OpaquePointer) -> Int32 {
        guard let connection = connection(wsi) else { return Self.end }
        guard case .response(let response, let position, let closes) = connection.stage else { return Self.goOn }
        let end = min(position + Self.chunkByteCount + 4096, response.body.count)
        let isLast = end == response.body.count
        // In the words of HTTP/1.1 head and body are one stream of bytes.
        guard write(response.body[position..<end], isLast ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP, wsi) else {
            return Self.end
        }
        connection.deadline = .now + .seconds(shared.options.limits.bodySeconds)
        guard isLast else {
            connection.stage = .response(response, position: end, closes: closes)
            _ = lws_callback_on_writable(wsi)
            return Self.goOn
        }
        connection.stage = .head
        connection.deadline = .now + .seconds(max(30, shared.options.limits.headSeconds))
        if closes {
            connection.stage = .closing
            return Self.end
        }
        return lws_http_transaction_completed(wsi) != 0 ? Self.end : Self.goOn
    }

    /// Writes bytes with the room before them that libwebsockets wants. False: the connection is broken.
    private func write(_ bytes: some Collection<UInt8>, _ kind: lws_write_protocol, _ wsi: OpaquePointer) -> Bool {
        let padding = cws_padding()
        var buffer = [UInt8](repeating: 0, count: padding)
        buffer.append(contentsOf: bytes)
        shared.metrics.count { $0.bytesSent += bytes.count }
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return lws_write(wsi, start + padding, buffer.count - padding, kind) >= 0
        }
    }

    private func confirmUpgrade(_ wsi: OpaquePointer, _ input: UnsafeMutableRawPointer?) -> Int32 {
        guard let connection = connection(wsi) else { return Self.end }
        let name = input.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
        let request = readRequest(wsi, path: uri(wsi))
        let refusal: HTTPResponse?
        if name.lowercased() != "websocket" {
            refusal = .text(400, "there is no upgrade to \(name.filter { $0.isLetter || $0.isNumber })")
        } else {
            refusal = router.refusal(of: request)
        }
        return refusal.map { refuse($0, on: connection) } ?? Self.goOn
    }

    private func readRequest(_ wsi: OpaquePointer, path: String) -> HTTPRequest {
        var request = HTTPRequest(method: "OTHER", path: path)
        for (token, method) in Self.methods where lws_hdr_total_length(wsi, token) > 0 { request.method = method }
        for (token, name) in Self.fields where lws_hdr_total_length(wsi, token) > 0 {
            request.fields[name] = field(wsi, token)
        }
        var index: Int32 = 0
        var buffer = [CChar](repeating: 0, count: 8192)
        while index < 64 {
            let count = lws_hdr_copy_fragment(wsi, &buffer, Int32(buffer.count), WSI_TOKEN_HTTP_URI_ARGS, index)
            guard count >= 0 else { break }
            let text = String(decoding: buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let name = parts.first, !name.isEmpty {
                request.query.append((String(name), parts.count > 1 ? String(parts[1]) : ""))
            }
            index += 1
        }
        return request
    }

    private static let methods: [(lws_token_indexes, String)] = [
        (WSI_TOKEN_GET_URI, "GET"), (WSI_TOKEN_POST_URI, "POST"), (WSI_TOKEN_HEAD_URI, "HEAD"),
        (WSI_TOKEN_OPTIONS_URI, "OPTIONS"), (WSI_TOKEN_PUT_URI, "PUT"), (WSI_TOKEN_DELETE_URI, "DELETE"),
        (WSI_TOKEN_PATCH_URI, "PATCH"),
    ]

    private static let fields: [(lws_token_indexes, String)] = [
        (WSI_TOKEN_HOST, "host"), (WSI_TOKEN_ORIGIN, "origin"), (WSI_TOKEN_PROTOCOL, "sec-websocket-protocol"),
        (WSI_TOKEN_CONNECTION, "connection"), (WSI_TOKEN_HTTP_COOKIE, "cookie"),
        (WSI_TOKEN_HTTP_AUTHORIZATION, "authorization"), (WSI_TOKEN_HTTP_IF_NONE_MATCH, "if-none-match"),
        (WSI_TOKEN_HTTP_ACCEPT, "accept"), (WSI_TOKEN_HTTP_CONTENT_TYPE, "content-type"),
        (WSI_TOKEN_HTTP_CONTENT_LENGTH, "content-length"), (WSI_TOKEN_HTTP_TRANSFER_ENCODING, "transfer-encoding"),
        (WSI_TOKEN_HTTP_EXPECT, "expect"),
    ]

    private func field(_ wsi: OpaquePointer, _ token: lws_token_indexes) -> String {
        let count = Int(lws_hdr_total_length(wsi, token))
        var buffer = [CChar](repeating: 0, count: count + 1)
        guard lws_hdr_copy(wsi, &buffer, Int32(buffer.count), token) >= 0 else { return "" }
        let text = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // Blanks around a value are no part of it, and libwebsockets leaves those behind it.
        return String(
            text[..<(text.lastIndex { $0 != " " && $0 != "\t" }.map { text.index(after: $0) } ?? text.startIndex)])
    }

    private func uri(_ wsi: OpaquePointer) -> String {
        for (token, _) in Self.methods where lws_hdr_total_length(wsi, token) > 0 { return field(wsi, token) }
        return ""
    }

    private func text(_ input: UnsafeMutableRawPointer?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : count), as: UTF8.self)
    }

    // WebSocket.

    private func beginSession(_ wsi: OpaquePointer) -> Int32 {
        guard let connection = connection(wsi) else { return Self.end }
        let id = connection.id
        let session: Session
        do throws(ProtocolError) {
            session = try Session(shared) { [self] in announce(id) }
        } catch {
            let refusal = ProtocolError(.internal, error.message, closeCode: CloseCode.internalError)
            _ = write(PreviewMessage(.error, json: refusal.json).bytes, LWS_WRITE_BINARY, wsi)
            lws_close_reason(wsi, lws_close_status(rawValue: UInt32(CloseCode.internalError)), nil, 0)
            return Self.end
        }
        connection.stage = .preview(session)
        connection.lastHeard = .now
        session.begin()
        if connections.values.filter({ $0.session != nil }).count > max(1, shared.options.limits.connectionCount - 4) {
            session.output.refuse(
                ProtocolError(.busy, "the server has as many viewers as it takes", closeCode: CloseCode.tryAgainLater),
                sequence: 0)
        }
        return Self.goOn
    }

    private func receive(_ wsi: OpaquePointer, _ input: UnsafeMutableRawPointer?, _ count: Int) {
        guard let connection = connection(wsi), let session = connection.session else { return }
        heard(wsi)
        guard !session.output.isClosing else { return }
        if lws_frame_is_binary(wsi) == 0 {
            session.refuseText()
        } else {
            let isLast = lws_is_final_fragment(wsi) != 0 && lws_remaining_packet_payload(wsi) == 0
            session.receive(UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : count), isLast: isLast)
        }
        if !session.isInMessage {
            connection.messageStart = nil
        } else if connection.messageStart == nil {
            connection.messageStart = connection.lastHeard
        }
        if session.output.isBackedUp, !connection.isHeldBack {
            connection.isHeldBack = true
            lws_rx_flow_control(wsi, 0)
        }
    }

    private func heard(_ wsi: OpaquePointer) {
        guard let connection = connection(wsi) else { return }
        connection.lastHeard = .now
        connection.isPinged = false
    }

    private func sendMessage(_ wsi: OpaquePointer) -> Int32 {
        guard let connection = connection(wsi), let session = connection.session else { return Self.end }
        let output = session.output
        session.resume()
        if connection.needsPing {
            connection.needsPing = false
            // With a payload: libwebsockets keeps answers without one to itself.
            guard write([1], LWS_WRITE_PING, wsi) else { return Self.end }
            _ = lws_callback_on_writable(wsi)
            return Self.goOn
        }
        if isStopping { output.close(CloseCode.goingAway) }
        let message = output.next()
        if let message {
            guard lws_write(wsi, message.start, message.byteCount, LWS_WRITE_BINARY) >= 0 else { return Self.end }
            shared.metrics.count { $0.bytesSent += message.byteCount }
            if connection.isHeldBack, !output.isBackedUp {
                connection.isHeldBack = false
                lws_rx_flow_control(wsi, 1)
            }
        }
        if let code = output.closeCode {
            lws_close_reason(wsi, lws_close_status(rawValue: UInt32(code)), nil, 0)
            return Self.end
        }
        // Also after the last message: that it is gone shows when there is room again.
        if message != nil || output.hasWork { _ = lws_callback_on_writable(wsi) }
        return Self.goOn
    }
}
