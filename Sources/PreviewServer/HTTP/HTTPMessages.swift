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

    package init(method: String, path: String) {
        self.method = method
        self.path = path
    }

    /// Whether a body belongs to the request, though maybe one of no bytes.
    package var hasBody: Bool {
        !["GET", "HEAD"].contains(method) || fields["transfer-encoding"] != nil || fields["content-length"] != nil
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
        411: "Length Required", 413: "Content Too Large", 415: "Unsupported Media Type", 417: "Expectation Failed",
        422: "Unprocessable Content", 426: "Upgrade Required", 500: "Internal Server Error",
        503: "Service Unavailable",
    ]
}
