import CWebSockets
import WebProtocol

extension Service {
    /// Begins what a request asks for.
    func begin(_ request: HTTPRequest, on connection: Connection) {
        do throws(HTTPRefusal) {
            if let handshake = try WebSocketHandshake(request) {
                return beginPreview(handshake, request, on: connection)
            }
        } catch {
            return refuse(HTTPResponse(error), on: connection)
        }
        switch router.answer(to: request) {
        case .response(let response):
            if request.hasBody {
                refuse(response, on: connection)
            } else {
                answer(response, to: request, on: connection)
            }
        case .body(let limit):
            guard request.fields["transfer-encoding"] == nil, let text = request.fields["content-length"],
                let length = Int(text)
            else { return refuse(.text(411, "the request needs a Content-Length"), on: connection) }
            guard length <= limit else { return refuse(.text(413, "more than \(limit) bytes"), on: connection) }
            guard length > 0 else { return refuse(.text(400, "the request has no body"), on: connection) }
            connection.share = shared.budget.share()
            connection.stage = .body(request, [], byteCount: length)
            connection.deadline = .now + .seconds(shared.options.limits.bodySeconds)
            if request.fields["expect"]?.lowercased() == "100-continue" {
                enqueue(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), on: connection)
            }
        }
    }

    /// Takes a body's bytes out of what has come.
    func takeBody(_ connection: Connection) {
        guard case .body(let request, var bytes, let byteCount) = connection.stage else { return }
        let count = min(byteCount - bytes.count, connection.unread.count)
        // Of what has come, not of what was announced: announcing costs nothing.
        guard connection.share?.grow(by: count) ?? false else {
            return refuse(Self.tooMuchWaits, on: connection)
        }
        connection.stage = .closing  // so that `bytes` is not copied
        // All at once, so that growing never takes a copy; pages that nothing has come for are not in memory.
        if bytes.count + count > bytes.capacity {
            bytes.reserveCapacity(bytes.isEmpty ? min(byteCount, 1 << 20) : byteCount)
        }
        bytes.append(contentsOf: connection.unread[..<count])
        connection.unread.removeFirst(count)
        shared.metrics.count { $0.bytesReceived += count }
        guard bytes.count == byteCount else {
            connection.stage = .body(request, bytes, byteCount: byteCount)
            return
        }
        connection.stage = .working(request)
        connection.deadline = .now + .seconds(shared.options.limits.bodySeconds * 10)
        // Nothing more is read until it is answered: neither the next request, nor the end of what the other side sends, which is
        // no reason not to answer.
        hold(connection, true)
        let (id, share) = (connection.id, connection.share)
        router.post(request, body: bytes) { [self] response in
            // Until then the body takes memory, whether or not anybody still waits for the response.
            withExtendedLifetime(share) { finish(id, response) }
        }
    }

    private static let tooMuchWaits = HTTPResponse.text(
        503, "too much is waiting in the server", [("Retry-After", "1")])

    /// Answers, and ends the connection: nobody reads the rest of what comes.
    func refuse(_ response: HTTPResponse, on connection: Connection) {
        shared.metrics.count { $0.requests[response.status, default: 0] += 1 }
        connection.share = nil
        connection.unread = []
        enqueue(response.head(closes: true) + response.body, on: connection, ends: true)
        connection.stage = .lingering
        connection.deadline = .now + .seconds(Self.farewellSeconds)
    }

    /// Arranges for a response to be sent.
    func answer(_ response: HTTPResponse, to request: HTTPRequest, on connection: Connection) {
        // Until the other side has read it, it takes memory.
        let share = shared.budget.share()
        let response = share.grow(by: response.body.count) ? response : Self.tooMuchWaits
        connection.share = share
        shared.metrics.count { $0.requests[response.status, default: 0] += 1 }
        let closes = request.closes || isStopping
        // After HEAD the head of what would come, without it.
        connection.stage = .response(
            body: request.method == "HEAD" ? [] : response.body, head: response.head(closes: closes), position: 0,
            closes: closes)
        connection.deadline = .now + .seconds(shared.options.limits.bodySeconds)
        hold(connection, true)
        _ = lws_callback_on_writable(connection.wsi)
    }

    /// Sends the next piece of a response. False: the connection is broken.
    func sendResponse(_ connection: Connection) -> Bool {
        guard case .response(let body, let head, let position, let closes) = connection.stage else { return true }
        guard position < body.count || !head.isEmpty else {
            connection.share = nil
            // All of it has been taken: this was called again.
            if closes {
                connection.ends = true
            } else {
                connection.stage = .head(HTTPHeadReader())
                connection.deadline = .now + .seconds(max(30, shared.options.limits.headSeconds))
                hold(connection, false)
                advance(connection)
            }
            if connection.ends { _ = lws_callback_on_writable(connection.wsi) }
            return true
        }
        let end = min(position + Self.chunkByteCount + 4096, body.count)
        guard write(head + body[position..<end], on: connection) else { return false }
        connection.deadline = .now + .seconds(shared.options.limits.bodySeconds)
        connection.stage = .response(body: body, head: [], position: end, closes: closes)
        _ = lws_callback_on_writable(connection.wsi)
        return true
    }
}
