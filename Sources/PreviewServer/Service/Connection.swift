import WebProtocol

/// A connection, as the service thread keeps it.
final class Connection {
    /// What goes on.
    enum Stage {
        /// A request's head is due.
        case head(HTTPHeadReader)
        /// A request's body is due.
        case body(HTTPRequest, [UInt8], byteCount: Int)
        /// A response is being made.
        case working(HTTPRequest)
        /// A response is being sent: what is left of its head, and the next byte of its body.
        case response(body: [UInt8], head: [UInt8], position: Int, closes: Bool)
        /// A page watches.
        case preview(Session, WebSocketFrameReader)
        /// All has been said; what the other side still sends is thrown away until it ends the connection too, so that the last
        /// answer reaches it.
        case lingering
        /// It ends.
        case closing
    }

    let id: Int
    /// libwebsockets' name for it.
    let wsi: OpaquePointer
    /// The other side.
    let address: String
    var stage = Stage.head(HTTPHeadReader())
    /// What has come and is not worked off: a request behind the one that is answered.
    var unread: [UInt8] = []
    /// Short pieces that are to be sent before anything else.
    var outgoing: [[UInt8]] = []
    /// Whether the connection is to linger once `outgoing` is sent.
    var ends = false
    /// When it is ended unless something happens.
    var deadline: ContinuousClock.Instant
    /// When the other side was last heard.
    var lastHeard: ContinuousClock.Instant
    /// Whether a ping is due.
    var needsPing = false
    /// Whether a ping was sent since the other side was heard.
    var isPinged = false
    /// Whether reading is held back until the other side takes what it was sent.
    var isHeldBack = false
    /// When the message that is coming began.
    var messageStart: ContinuousClock.Instant?
    /// What a request's body takes of all connections' memory.
    var share: ByteBudget.Share?

    init(id: Int, wsi: OpaquePointer, address: String, now: ContinuousClock.Instant, deadline: ContinuousClock.Instant)
    {
        self.id = id
        self.wsi = wsi
        self.address = address
        self.deadline = deadline
        lastHeard = now
    }

    var session: Session? {
        if case .preview(let session, _) = stage { return session }
        return nil
    }
}
