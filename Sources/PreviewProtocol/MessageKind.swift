/// What a message is about: the byte at offset 5 of its header.
package enum MessageKind: UInt8, Sendable, CaseIterable {
    /// A picture to segment, from the page.
    case frame = 1
    /// What the page wants, as JSON.
    case settings = 2

    /// What the server can do, sent once when a connection opens.
    case hello = 129
    /// The class of each pixel at the network's size.
    case categories = 130
    /// How much of each pixel the chosen classes are, 255 for wholly, at the network's size.
    case alpha = 131
    /// The frame under the colours of its classes.
    case overlay = 132
    /// A frame of the server's own source.
    case picture = 133
    /// Figures about a frame; it ends the frame.
    case result = 134
    /// The frame was dropped for a newer one; it ends the frame.
    case dropped = 135
    /// Something went wrong; it ends the frame that it names.
    case error = 136
    /// The settings that are in force.
    case settingsInForce = 137
    /// What the edge of the chosen classes is drawn from: how surely each place belongs to them, 255 for wholly, steadied over
    /// time. From version 2 on.
    case matte = 138

    /// How its payload may be written.
    package var encodings: [PayloadEncoding] {
        switch self {
        case .frame: [.jpeg, .webp, .png, .rgb, .rgba]
        case .settings, .hello, .result, .error, .settingsInForce: [.json]
        case .categories, .alpha, .matte: [.plain, .deflate, .runLength]
        case .overlay: [.jpeg, .webp]
        case .picture: [.jpeg, .webp]
        case .dropped: [.none]
        }
    }

    /// Whether a payload has pixels, so that width and height are not 0.
    package var hasPixels: Bool {
        switch self {
        case .frame, .categories, .alpha, .matte, .overlay, .picture: true
        case .settings, .hello, .result, .dropped, .error, .settingsInForce: false
        }
    }
}

/// How a payload is written: the byte at offset 6 of a message's header.
package enum PayloadEncoding: UInt8, Sendable, CaseIterable {
    /// There is no payload.
    case none = 0
    /// A JPEG file.
    case jpeg = 1
    /// A WebP file.
    case webp = 2
    /// A PNG file.
    case png = 3
    /// Red, green, blue, a byte each, row by row.
    case rgb = 4
    /// Red, green, blue, straight alpha.
    case rgba = 5
    /// One JSON object in UTF-8.
    case json = 16
    /// Bytes of a mask, row by row.
    case plain = 32
    /// The same, deflated without header or checksum (RFC 1951).
    case deflate = 33
    /// The same as pairs: length of a run less one, its value.
    case runLength = 34
}
