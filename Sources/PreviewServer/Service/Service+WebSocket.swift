import CWebSockets
import PreviewProtocol
import WebProtocol

extension Service {
    /// Makes a connection a page's preview, or says why not.
    func beginPreview(_ handshake: WebSocketHandshake, _ request: HTTPRequest, on connection: Connection) {
        if let refusal = router.refusal(of: request, handshake) { return refuse(refusal, on: connection) }
        let version = Router.previewVersion(of: handshake) ?? MessageHeader.versions.lowerBound
        var accept = [CChar](repeating: 0, count: 29)
        cws_accept_key(handshake.challenge, &accept)
        let key = String(decoding: accept.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let id = connection.id
        shared.metrics.count { $0.requests[101, default: 0] += 1 }
        enqueue(
            HTTPResponse.switchingProtocols(accept: key, subprotocol: Self.previewProtocol(version)), on: connection)
        let session: Session
        do throws(ProtocolError) {
            session = try Session(shared, version: version) { [self] in announce(id) }
        } catch {
            let refusal = ProtocolError(.internal, error.message, closeCode: CloseCode.internalError)
            var message = PreviewMessage(.error, json: refusal.json)
            message.header.version = version
            let bytes = message.bytes
            enqueue(WebSocketFrameHead.binary(byteCount: bytes.count) + bytes, on: connection)
            return close(connection, CloseCode.internalError)
        }
        connection.stage = .preview(session, WebSocketFrameReader())
        connection.lastHeard = .now
        session.begin()
        if connections.values.filter({ $0.session != nil }).count > max(1, shared.options.limits.connectionCount - 4) {
            session.output.refuse(
                ProtocolError(.busy, "the server has as many viewers as it takes", closeCode: CloseCode.tryAgainLater),
                sequence: 0)
        }
    }

    /// Takes what a page sends.
    func receive(_ bytes: UnsafeRawBufferPointer, from connection: Connection) {
        guard case .preview(let session, var reader) = connection.stage else { return }
        connection.lastHeard = .now
        connection.isPinged = false
        guard !connection.ends, !session.output.isClosing else { return }
        connection.stage = .preview(session, reader)
        do throws(WebSocketFrameReader.Violation) {
            try reader.read(bytes) { event in
                take(event, session, on: connection)
                return !connection.ends && !session.output.isClosing
            }
        } catch {
            close(connection, UInt16(error.code))
        }
        guard !connection.ends else { return }
        connection.stage = .preview(session, reader)
        if !session.isInMessage, !reader.isInMessage {
            connection.messageStart = nil
        } else if connection.messageStart == nil {
            connection.messageStart = connection.lastHeard
        }
        if session.output.isBackedUp { hold(connection, true) }
    }

    private func take(_ event: WebSocketFrameReader.Event, _ session: Session, on connection: Connection) {
        switch event {
        case .data(_, isText: true, _): session.refuseText()
        case .data(let piece, isText: false, let isLast):
            piece.withUnsafeBytes { session.receive($0, isLast: isLast) }
        case .ping(let payload):
            // One answer is enough for many pings that nobody reads the answers to.
            guard connection.outgoing.count < 4 else { return }
            enqueue(WebSocketFrameHead.pong(byteCount: payload.count) + payload, on: connection)
        case .pong: break
        case .close(let code): close(connection, UInt16(code ?? 1000))
        }
    }

    /// Sends the closing frame and ends the connection.
    private func close(_ connection: Connection, _ code: UInt16) {
        enqueue(WebSocketFrameHead.close(code: Int(code)), on: connection, ends: true)
        connection.session?.end()
        connection.stage = .lingering
        connection.deadline = .now + .seconds(Self.farewellSeconds)
    }

    /// Sends the next message. False: the connection is broken.
    func sendMessage(of session: Session, on connection: Connection) -> Bool {
        let output = session.output
        session.resume()
        if connection.needsPing {
            connection.needsPing = false
            enqueue(WebSocketFrameHead.ping(byteCount: 0), on: connection)
            return true
        }
        if isStopping { output.close(CloseCode.goingAway) }
        let message = output.next()
        if let message {
            guard cws_write(connection.wsi, message.start, message.byteCount) >= 0 else { return false }
            shared.metrics.count { $0.bytesSent += message.byteCount }
            if !output.isBackedUp { hold(connection, false) }
        }
        if let code = output.closeCode {
            close(connection, code)
            return true
        }
        // Also after the last message: that it is gone shows when there is room again.
        if message != nil || output.hasWork { _ = lws_callback_on_writable(connection.wsi) }
        return true
    }
}
