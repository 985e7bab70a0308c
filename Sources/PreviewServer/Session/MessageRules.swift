import PreviewProtocol

/// What a page's messages must be like, as far as their headers tell.
package struct MessageRules: Sendable {
    /// Pixels of a frame.
    package var pixelLimit: Int
    /// Whether pages send frames: the server has no source of its own.
    package var takesFrames: Bool
    /// The version of the protocol that was agreed on.
    package var version: UInt8

    package init(pixelLimit: Int, takesFrames: Bool, version: UInt8 = 1) {
        self.pixelLimit = pixelLimit
        self.takesFrames = takesFrames
        self.version = version
    }

    /// Checks a header before the payload has come.
    package func check(_ header: MessageHeader) throws(ProtocolError) {
        guard header.version == version else { throw .version(header.version, spoken: "\(version) here") }
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
///
/// One frame with a number or a time far ahead of all others must not make every later one too early. So a frame that leaps is
/// refused alone; only where the next one goes on from there has the stream leapt, as after a night's sleep of the page's machine
/// (RTP does so with sequence numbers: RFC 3550, A.1).
package struct ArrivalOrder: Sendable {
    /// Larger steps are leaps: frames, and microseconds.
    package static let sequenceStep: UInt32 = 1 << 20, timestampStep: UInt64 = 3_600_000_000
    /// Times from here on are refused: JavaScript's numbers are not exact there, and it is 285 years of microseconds.
    package static let timestampLimit: UInt64 = 1 << 53

    private struct Place {
        var sequence: UInt32
        var timestamp: UInt64

        /// Whether a frame comes after this one, and not by a leap.
        func goesOn(to next: Place) -> Bool {
            next.sequence > sequence && next.sequence - sequence <= ArrivalOrder.sequenceStep
                && next.timestamp > timestamp
                && next.timestamp - timestamp <= ArrivalOrder.timestampStep
        }
    }

    private var last: Place?
    /// The frame that leapt.
    private var leapt: Place?

    package init() {}

    /// Accepts a frame.
    ///
    /// - Throws: `outOfOrder`; the stream goes on as if the frame had not come.
    package mutating func accept(_ header: MessageHeader) throws(ProtocolError) {
        let next = Place(sequence: header.sequence, timestamp: header.timestamp)
        guard next.sequence > 0 else { throw ProtocolError(.outOfOrder, "a frame's sequence number is 1 or more") }
        guard next.timestamp < Self.timestampLimit else {
            throw ProtocolError(.outOfOrder, "timestamp \(next.timestamp) is past the limit of 2^53 microseconds")
        }
        if let last, !last.goesOn(to: next), leapt?.goesOn(to: next) != true {
            guard next.sequence > last.sequence else {
                throw ProtocolError(.outOfOrder, "frame \(next.sequence) comes after frame \(last.sequence)")
            }
            guard next.timestamp > last.timestamp else {
                throw ProtocolError(
                    .outOfOrder,
                    "timestamp \(next.timestamp) is not later than \(last.timestamp), that of the frame before")
            }
            leapt = next
            throw ProtocolError(
                .outOfOrder,
                "frame \(next.sequence) at \(next.timestamp) is too far ahead of frame \(last.sequence) at "
                    + "\(last.timestamp); the next one may go on from it")
        }
        last = next
        leapt = nil
    }
}
