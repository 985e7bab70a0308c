/// What a server may be asked for and how much.
package struct ServerLimits: Sendable {
    /// Bytes of a message or of a posted picture.
    package var messageByteCount = 32 << 20
    /// Pixels of a posted picture.
    package var pixelCount = 50_000_000
    /// Pixels of a frame: decoding one that no camera sends keeps others waiting.
    package var framePixelCount = 1 << 24
    /// Frames a second of one connection.
    package var framesPerSecond = 120.0
    /// Connections at once.
    package var connectionCount = 64
    /// Connections at once from one address.
    package var connectionCountPerAddress = 32
    /// Bytes of messages that are being received or wait for the network, over all connections.
    package var bufferedByteCount = 256 << 20
    /// Bytes of memory that a posted picture may take, from its body to the answer; one is worked on at a time.
    package var pictureByteCount = 2 << 30
    /// How long a request's head may take.
    package var headSeconds = 10.0
    /// How long a request's body, or a message, may take.
    package var bodySeconds = 60.0
    /// How long a connection may be silent; a page that is there answers pings.
    package var idleSeconds = 60.0

    /// Limits with their defaults.
    package init() {}
}
