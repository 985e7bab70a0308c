import Silhouette

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

/// Where frames come from.
public enum FrameSource: Sendable, Equatable {
    /// Each page sends its own.
    case browser
    /// The server plays a video file, over and over, or a camera's device, and every page watches.
    case played(path: String)
}

/// How a server is set up.
public struct ServerOptions: Sendable {
    /// The address to listen on: a number, or `localhost`.
    public var host = "127.0.0.1"
    /// The port. 0: any that is free.
    public var port = 8420
    /// What pages must know. Nil: nothing, which only addresses of this machine allow.
    public var token: String?
    /// Origins of pages, besides the server's own, that may connect: `https://example.org`.
    public var allowedOrigins: [String] = []
    /// PEM files of the certificate and its key. Nil: no TLS.
    public var tls: (certificate: String, key: String)?
    /// The folder of the page's files. Nil: there is no page.
    public var webFolder: String?
    /// Where frames come from.
    public var source = FrameSource.browser
    /// Devices that pages may choose among. Fewer than two, or without the models' own: there is no choice.
    package var devices: [UsableDevice] = []
    /// What may be asked.
    public var limits = ServerLimits()

    /// Options with their defaults.
    public init() {}
}

/// Why a server does not start: one line.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    /// The flag, file or address, and what is wrong with it.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}
