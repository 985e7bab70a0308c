/// A request's head, as far as it matters here.
package struct HTTPRequest: Sendable {
    /// `GET`, `HEAD`, `POST` or another word.
    package var method: String
    /// The path, percent signs decoded.
    package var path: String
    /// What follows the question mark: names and values.
    package var query: [(name: String, value: String)] = []
    /// Header fields by name in small letters.
    package var fields: [String: String] = [:]
    /// 1 for HTTP/1.1, 0 for HTTP/1.0.
    package var minorVersion = 1

    package init(method: String, path: String) {
        self.method = method
        self.path = path
    }

    /// Whether a body of some bytes belongs to the request.
    package var hasBody: Bool {
        fields["transfer-encoding"] != nil || (fields["content-length"].map { $0.contains { $0 != "0" } } ?? false)
    }

    /// Whether the connection ends with the response.
    package var closes: Bool {
        let words = (fields["connection"] ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " } }
        return words.contains("close") || (minorVersion == 0 && !words.contains("keep-alive"))
    }

    /// The value of the last parameter of this name, as the last of equal options counts on the command line.
    package func parameter(_ name: String) -> String? { query.last { $0.name == name }?.value }
}

/// A response.
package struct HTTPResponse: Sendable {
    /// The status: 200.
    package var status: Int
    /// Header fields besides those that every response has.
    package var fields: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]

    package init(_ status: Int, _ type: String, _ body: [UInt8], _ fields: [(name: String, value: String)] = []) {
        self.status = status
        self.fields = [("Content-Type", type)] + fields
        self.body = body
    }

    /// A response of one line of text.
    package static func text(
        _ status: Int, _ line: String, _ fields: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(status, "text/plain; charset=utf-8", Array((line + "\n").utf8), fields)
    }

    /// The answer to a request that is refused.
    package init(_ refusal: HTTPRefusal) {
        self = .text(refusal.status, refusal.line, refusal.fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// The head that makes a connection a WebSocket.
    ///
    /// - Parameters:
    ///   - accept: The hash of the handshake's challenge, in base64.
    ///   - subprotocol: The one that is spoken.
    package static func switchingProtocols(accept: String, subprotocol: String) -> [UInt8] {
        Array(
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(accept)\r\nSec-WebSocket-Protocol: \(subprotocol)\r\n\r\n").utf8)
    }

    /// Status line and header fields, with the empty line behind them.
    ///
    /// - Parameter closes: Whether the connection ends with this response.
    package func head(closes: Bool) -> [UInt8] {
        var text = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Status")\r\n"
        for (name, value) in Self.commonFields + fields { text += "\(name): \(value)\r\n" }
        if status != 304 { text += "Content-Length: \(body.count)\r\n" }
        if closes { text += "Connection: close\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// The page may load and run what this server gives it, and nothing else.
    package static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private static let commonFields = [
        ("Server", "silhouette"), ("Cache-Control", "no-cache"), ("Content-Security-Policy", contentSecurityPolicy),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Permissions-Policy", "camera=(self)"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    private static let reasons = [
        200: "OK", 303: "See Other", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
        404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout",
        411: "Length Required", 413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type",
        417: "Expectation Failed", 422: "Unprocessable Content", 426: "Upgrade Required",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 503: "Service Unavailable",
        505: "HTTP Version Not Supported",
    ]
}
