import Base
import PreviewProtocol
import WebProtocol

/// What each request gets.
final class Router: Sendable {
    /// What to do with a request.
    enum Answer: Sendable {
        /// Send this.
        case response(HTTPResponse)
        /// Wait for a body of at most so many bytes and hand it to `post`.
        case body(byteLimit: Int)
    }

    private let rules: AccessRules
    private let files: StaticFiles
    private let context: ServerContext
    private let segmentation: SegmentEndpoint

    /// - Throws: `SystemError` where the system has no thread left.
    init(_ rules: AccessRules, files: StaticFiles, context: ServerContext) throws(SystemError) {
        self.rules = rules
        self.files = files
        self.context = context
        segmentation = try SegmentEndpoint(context)
    }

    /// Answers a request that is no WebSocket's.
    func answer(to request: HTTPRequest) -> Answer {
        if let refusal = refusalByHost(request) { return .response(refusal) }
        if request.path == "/healthz" {
            return only(["GET", "HEAD"], request) { .response(.text(200, "ok")) }
        }
        let authorization = rules.authorization(of: request)
        guard authorization != .refused else { return .response(Self.noToken) }
        if authorization == .grantedByAddress, request.method == "GET", let cookie = rules.cookieField,
            request.fields["authorization"] == nil, request.path == "/"
        {
            return .response(.text(303, "the token is kept in a cookie", [("Location", "/"), cookie]))
        }
        switch request.path {
        case "/metrics":
            return only(["GET", "HEAD"], request) {
                .response(
                    HTTPResponse(200, "text/plain; version=0.0.4; charset=utf-8", Array(context.metrics.text.utf8)))
            }
        case "/api/segment":
            return only(["POST"], request) {
                if let refusal = refusalByOrigin(request) ?? segmentation.refusal(of: request) {
                    return .response(refusal)
                }
                return .body(byteLimit: context.options.limits.messageByteCount)
            }
        case "/preview":
            return .response(.text(426, "this address is for WebSockets", [("Upgrade", "websocket")]))
        default:
            guard let file = files.response(to: request) else {
                return .response(.text(404, "there is nothing at this address"))
            }
            return only(["GET", "HEAD"], request) { .response(file) }
        }
    }

    /// Answers a request whose body has come.
    func post(_ request: HTTPRequest, body: [UInt8], completion: @escaping @Sendable (HTTPResponse) -> Void) {
        segmentation.run(request, body: body, completion: completion)
    }

    /// Why a WebSocket is refused. Nil: it is not.
    func refusal(of request: HTTPRequest, _ handshake: WebSocketHandshake) -> HTTPResponse? {
        if let refusal = refusalByHost(request) ?? refusalByOrigin(request) { return refusal }
        guard rules.authorization(of: request) != .refused else { return Self.noToken }
        guard request.path == "/preview" else { return .text(404, "there is no WebSocket at this address") }
        guard Self.previewVersion(of: handshake) != nil else {
            let known = MessageHeader.versions.reversed().map(Service.previewProtocol).joined(separator: " or ")
            return .text(400, "the WebSocket must offer the subprotocol \(known)")
        }
        return nil
    }

    /// The newest version of the protocol that both sides speak. Nil: there is none.
    static func previewVersion(of handshake: WebSocketHandshake) -> UInt8? {
        MessageHeader.versions.last { handshake.subprotocols.contains(Service.previewProtocol($0)) }
    }

    private static let noToken = HTTPResponse.text(
        401, "a token is needed: open the address that the server printed when it started",
        [("WWW-Authenticate", "Bearer")])

    private func refusalByHost(_ request: HTTPRequest) -> HTTPResponse? {
        rules.allows(host: request.fields["host"])
            ? nil : .text(403, "this server is not called that: open the address that it printed when it started")
    }

    private func refusalByOrigin(_ request: HTTPRequest) -> HTTPResponse? {
        rules.allows(origin: request.fields["origin"], host: request.fields["host"] ?? "")
            ? nil : .text(403, "pages of this origin may not use the server; --allow-origin allows them")
    }

    private func only(_ methods: [String], _ request: HTTPRequest, _ answer: () -> Answer) -> Answer {
        guard methods.contains(request.method) else {
            return .response(
                .text(405, "this address takes \(methods[0])", [("Allow", methods.joined(separator: ", "))]))
        }
        return answer()
    }
}
