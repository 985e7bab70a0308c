import Silhouette

/// Where frames come from.
package enum PreviewSource: Sendable, Equatable {
    /// Each page sends its own.
    case browser
    /// The server plays a video file, over and over, or a camera's device, and every page watches.
    case played(path: String)
}

/// How a server is set up.
package struct ServerOptions: Sendable {
    /// The address to listen on: a number, or `localhost`.
    package var host = "127.0.0.1"
    /// The port. 0: any that is free.
    package var port = 8420
    /// What pages must know. Nil: nothing, which only addresses of this machine allow.
    package var token: String?
    /// Origins of pages, besides the server's own, that may connect: `https://example.org`.
    package var allowedOrigins: [String] = []
    /// PEM files of the certificate and its key. Nil: no TLS.
    package var tls: (certificate: String, key: String)?
    /// The folder of the page's files. Nil: there is no page.
    package var webFolder: String?
    /// Where frames come from.
    package var source = PreviewSource.browser
    /// Devices that pages may choose among. Fewer than two, or without the models' own: there is no choice.
    package var devices: [UsableDevice] = []
    /// What may be asked.
    package var limits = ServerLimits()

    /// Options with their defaults.
    package init() {}
}
