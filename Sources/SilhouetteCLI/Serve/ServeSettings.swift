import Imaging
import ModelGraph
import PreviewServer
import Silhouette

/// What the command line of `silhouette serve` asks for.
package struct ServeSettings: Sendable {
    package var models: [String] = []
    package var device: Device = .automatic
    package var precision: Precision = .float32
    package var tuning: Tuning?
    package var threads: Int?
    package var modelMemory = ModelLimits.memoryByteCount
    package var host = "127.0.0.1"
    package var port = 8420
    package var source: String?
    package var token: String?
    package var tokenFile: String?
    package var origins: [String] = []
    package var certificate: String?
    package var key: String?
    package var web: String?
    package var limits = ServerLimits()
    package var isVerbose = false

    package init() {}
}

extension Subcommand<ServeSettings> {
    /// `silhouette serve`.
    package static let serve = Subcommand(
        name: "serve",
        abstract: "show a camera in the browser, segmented as it moves",
        operands: "",
        introduction: """
            Serves a page that shows your camera, or a video that the server plays, with every person and object cut out \
            or coloured as it moves, and prints the page's address. Pictures stay on this machine. Ctrl-C ends it.
            """,
        details: """
            Only this machine can connect unless --host says otherwise; other machines need the token that is
            then part of the printed address. Browsers give a camera only to pages of this machine or with TLS.

            Where there are several devices the page can choose one, unless -d is cpu.

            POST /api/segment segments a picture. Its parameters mean what options of silhouette segment do:
            ?output=mask|overlay|cutout|composite|confidence&class=NAME,NAME (or drop-class)
            &mask-size=source|model&model=NAME&fit=stretch|letterbox|crop
            &background=blur|gray|dim|#rrggbb|gradient:...&edges=guided|plain&threshold=C&shift=PIXELS
            &feather=PIXELS&opacity=O&outline=PIXELS&class-color=NAME=COLOUR (# is written %23 there).
            The confidence is one picture of all classes that are asked for. Accept: image/png, image/jpeg or
            image/webp chooses the format.
            /healthz says whether the server runs, /metrics counts what it does, for Prometheus.

            exit code: 0 it was ended, 1 it could not start, 2 the command line is wrong

            examples:
              silhouette serve                                 open the printed address
              silhouette serve --source street.mp4             every page watches this video
              curl --data-binary @photo.jpg http://127.0.0.1:8420/api/segment > overlay.jpg
            """,
        options: [
            .value(
                "model", "m", "FILE", "The model; given more than once, the page can choose. (default: as for segment)"
            ) {
                settings, value in settings.models.append(value)
            },
            .modelMemory(\.modelMemory),
            .device(\.device),
            .precision(\.precision),
            .tuning(\.tuning),
            .threads(\.threads),
            .integer("port", in: 0...65_535, "The port; 0: any that is free. (default: 8420)", \.port),
            .value(
                "host", nil, "ADDRESS",
                "The address to listen on; 0.0.0.0 or :: lets other machines connect. (default: 127.0.0.1)"
            ) { settings, value throws(UsageError) in
                guard !value.isEmpty else { throw UsageError("needs an ADDRESS, not an empty text") }
                settings.host = value
            },
            .value(
                "source", nil, "browser|FILE|DEVICE",
                """
                Where frames come from.
                browser: each page sends its own camera.
                FILE or DEVICE: the server plays a video, over and over, or a camera (/dev/video0), with the program ffmpeg.
                (default: browser)
                """
            ) { settings, value throws(UsageError) in
                guard !value.isEmpty else { throw UsageError("needs browser, a FILE or a DEVICE, not an empty text") }
                settings.source = value == "browser" ? nil : value
            },
            .value(
                "token", nil, "TOKEN",
                "What pages must know: 8 or more letters, digits, - and _. (default: chosen, with --host)"
            ) { settings, value throws(UsageError) in settings.token = try checkedToken(value) },
            .text(
                "token-file", nil, "FILE", "Read the token from a file, so that no list of processes shows it.",
                \.tokenFile),
            .value(
                "allow-origin", nil, "ORIGIN",
                "Let pages of another site use the server: https://example.org. Repeatable."
            ) { settings, value throws(UsageError) in settings.origins.append(try checkedOrigin(value)) },
            .text("tls-certificate", nil, "FILE", "Serve https with this certificate chain (PEM).", \.certificate),
            .text("tls-key", nil, "FILE", "The certificate's key (PEM).", \.key),
            .text("web", nil, "FOLDER", "The page's files. (default: those that came with the program)", \.web),
            .integer(
                "max-connections", in: 1...10_000, "Connections at once. (default: \(ServerLimits().connectionCount))",
                \.limits.connectionCount),
            .integer(
                "max-connections-per-address", in: 1...10_000,
                "Connections at once from one address. (default: \(ServerLimits().connectionCountPerAddress))",
                \.limits.connectionCountPerAddress),
            .integer(
                "max-pixels", in: 1...1_000_000_000,
                "Refuse larger pictures. (default: \(ServerLimits().pixelCount); for frames \(ServerLimits().framePixelCount))",
                \.limits.pixelCount),
            .integer(
                "max-message-bytes", in: 1024...1_000_000_000,
                "Refuse longer messages. (default: \(ServerLimits().messageByteCount))", \.limits.messageByteCount),
            .integer(
                "max-frames-per-second", in: 1...1000,
                "Refuse more frames from one connection. (default: \(Int(ServerLimits().framesPerSecond)))"
            ) { $0.limits.framesPerSecond = Double($1) },
            .integer(
                "idle-timeout", "SECONDS", in: 1...86_400,
                "End connections that do not answer for so long. (default: \(Int(ServerLimits().idleSeconds)))"
            ) { $0.limits.idleSeconds = Double($1) },
            .flag("verbose", "v", "Say which model and device are used.", \.isVerbose),
        ],
        addOperand: { _, operand throws(UsageError) in throw UsageError("takes no operand: '\(operand)'") },
        check: { settings throws(UsageError) in try settings.check() })
}

extension ServeSettings {
    /// Checks what the options say together.
    fileprivate func check() throws(UsageError) {
        try precision.check(on: device)
        try tuning?.check(on: device)
        guard token == nil || tokenFile == nil else { throw UsageError("--token and --token-file exclude each other") }
        guard (certificate == nil) == (key == nil) else {
            throw UsageError("--tls-certificate and --tls-key go together")
        }
    }
}

/// A token that fits into an address and a cookie.
func checkedToken(_ text: String) throws(UsageError) -> String {
    let isFit = text.utf8.allSatisfy { byte in
        let character = Character(Unicode.Scalar(byte))
        return byte < 128
            && (character.isLetter || character.isNumber || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_"))
    }
    guard isFit, (8...128).contains(text.utf8.count) else {
        throw UsageError("needs 8 to 128 letters, digits, - and _")
    }
    return text
}

/// A host and the digits after its last colon, outside the brackets of an IPv6 address.
private func portSeparated(_ host: Substring) -> (name: Substring, port: Substring?) {
    guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return (host, nil) }
    return (host[..<colon], host[host.index(after: colon)...])
}

private func checkedOrigin(_ text: String) throws(UsageError) -> String {
    for scheme in ["http://", "https://"] where text.hasPrefix(scheme) {
        // As browsers send it: no name with a password, no path, no port that there cannot be.
        let host = text.dropFirst(scheme.count)
        let (name, port) = portSeparated(host)
        let isName = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"/?#@\\\"<>".utf8.contains($0) }
        if isName, port.map({ UInt16($0) != nil }) ?? true { return text }
    }
    throw UsageError("needs an origin like https://example.org, without a path, not '\(text)'")
}
