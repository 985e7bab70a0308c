import PreviewProtocol

/// What a page's messages must be like, as far as their headers tell.
package struct MessageRules: Sendable {
    /// Pixels of a frame.
    package var pixelLimit: Int
    /// Whether pages send frames: the server has no source of its own.
    package var takesFrames: Bool

    package init(pixelLimit: Int, takesFrames: Bool) {
        self.pixelLimit = pixelLimit
        self.takesFrames = takesFrames
    }

    /// Checks a header before the payload has come.
    package func check(_ header: MessageHeader) throws(ProtocolError) {
        switch header.kind {
        case .frame: try checkFrame(header)
        case .settings:
            guard header.payloadByteCount <= PreviewSettings.byteLimit else {
                throw ProtocolError(
                    .badSettings,
                    "settings of \(header.payloadByteCount) bytes; the limit is \(PreviewSettings.byteLimit)")
            }
        default: throw ProtocolError(.unknownKind, "only a server sends messages of kind \(header.kind)")
        }
    }

    private func checkFrame(_ header: MessageHeader) throws(ProtocolError) {
        guard takesFrames else {
            throw ProtocolError(.unexpected, "this server plays its own source and takes no frames")
        }
        let (width, height) = (Int(header.width), Int(header.height))
        // Two 32-bit sides fit into 64 bits unsigned only.
        let pixelCount = UInt64(header.width) * UInt64(header.height)
        guard pixelCount <= UInt64(pixelLimit), width <= 65_535, height <= 65_535 else {
            throw ProtocolError(
                .tooLarge, "a frame of \(width)x\(height); the limit is \(pixelLimit) pixels and 65535 a side")
        }
        let channels: Int? =
            switch header.encoding {
            case .rgb: 3
            case .rgba: 4
            default: nil
            }
        if let channels, width * height * channels != header.payloadByteCount {
            throw ProtocolError(
                .sizeMismatch,
                "\(width)x\(height) in \(header.encoding) has \(width * height * channels) bytes, not "
                    + "\(header.payloadByteCount)")
        }
    }
}

/// Whether frames come in their order.
package struct ArrivalOrder: Sendable {
    private var last: (sequence: UInt32, timestamp: UInt64)?

    package init() {}

    /// Accepts a frame.
    ///
    /// - Throws: `outOfOrder`, and then nothing has changed.
    package mutating func accept(_ header: MessageHeader) throws(ProtocolError) {
        guard header.sequence > 0 else { throw ProtocolError(.outOfOrder, "a frame's sequence number is 1 or more") }
        if let last {
            guard header.sequence > last.sequence else {
                throw ProtocolError(.outOfOrder, "frame \(header.sequence) comes after frame \(last.sequence)")
            }
            guard header.timestamp > last.timestamp else {
                throw ProtocolError(
                    .outOfOrder,
                    "timestamp \(header.timestamp) is not later than \(last.timestamp), that of the frame before")
            }
        }
        last = (header.sequence, header.timestamp)
    }
}
