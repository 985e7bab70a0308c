/// A whole message: a header and the bytes that it announces.
package struct PreviewMessage: Equatable, Sendable {
    /// What the message says about itself.
    package var header: MessageHeader
    /// What follows the header.
    package var payload: [UInt8]

    /// Creates a message; its header gets the payload's length.
    package init(
        _ kind: MessageKind, _ encoding: PayloadEncoding, sequence: UInt32 = 0, timestamp: UInt64 = 0,
        width: UInt32 = 0, height: UInt32 = 0, payload: [UInt8] = []
    ) {
        header = MessageHeader(
            kind: kind, encoding: encoding, sequence: sequence, payloadByteCount: payload.count, timestamp: timestamp,
            width: width, height: height)
        self.payload = payload
    }

    /// Reads a message.
    ///
    /// - Throws: What `MessageHeader` throws, and `malformed` where the length is not that of the payload.
    package init(_ bytes: UnsafeRawBufferPointer) throws(ProtocolError) {
        header = try MessageHeader(bytes)
        let rest = bytes.count - MessageHeader.byteCount
        guard header.payloadByteCount == rest else {
            throw .broken("the header announces \(header.payloadByteCount) bytes, and \(rest) follow")
        }
        payload = Array(bytes[MessageHeader.byteCount...])
    }

    /// Reads a message.
    package init(_ bytes: [UInt8]) throws(ProtocolError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(ProtocolError) in try PreviewMessage(bytes) }
        }
        self = try result.get()
    }

    /// The bytes of the message.
    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: MessageHeader.byteCount + payload.count) { buffer, initialized in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            header.write(to: bytes)
            UnsafeMutableRawBufferPointer(rebasing: bytes[MessageHeader.byteCount...]).copyBytes(from: payload)
            initialized = MessageHeader.byteCount + payload.count
        }
    }
}
