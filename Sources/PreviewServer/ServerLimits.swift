/// What a server may be asked for and how much.
public struct ServerLimits: Sendable {
    /// Bytes of a message or of a posted picture.
    public var messageByteCount = 32 << 20
    /// Pixels of a posted picture.
    public var pixelCount = 50_000_000
    /// Pixels of a frame: decoding one that no camera sends keeps others waiting.
    public var framePixelCount = 1 << 24
    /// Frames a second of one connection.
    public var framesPerSecond = 120.0
    /// Connections at once.
    public var connectionCount = 64
    /// Connections at once from one address.
    public var connectionCountPerAddress = 32
    /// Bytes of messages that are being received or wait for the network, over all connections.
    public var bufferedByteCount = 256 << 20
    /// Bytes of the confidences that one posted picture may have computed.
    public var resultByteCount = 1 << 30
    /// How long a request's head may take.
    public var headSeconds = 10.0
    /// How long a request's body, or a message, may take.
    public var bodySeconds = 60.0
    /// How long a connection may be silent; a page that is there answers pings.
    public var idleSeconds = 60.0

    /// Limits with their defaults.
    public init() {}
}
