/// The 32 bytes at the start of every message, little-endian.
///
///     0   SLHP  magic          8   u32  sequence        24  u32  width
///     4   u8    version        12  u32  payload length  28  u32  height
///     5   u8    kind           16  u64  timestamp
///     6   u8    encoding
///     7   u8    0
package struct MessageHeader: Equatable, Sendable {
    /// Bytes of a header.
    package static let byteCount = 32
    /// The versions of the protocol. Which one a connection speaks is agreed when it opens.
    package static let versions: ClosedRange<UInt8> = 1...2
    private static let magic: [UInt8] = [0x53, 0x4c, 0x48, 0x50]

    /// The version of the protocol that the message is of.
    package var version: UInt8 = 1
    /// What the message is about.
    package var kind: MessageKind
    /// How its payload is written.
    package var encoding: PayloadEncoding
    /// The frame that it is about; 0: none.
    package var sequence: UInt32
    /// Bytes that follow the header.
    package var payloadByteCount: Int
    /// The frame's time in microseconds on its sender's clock.
    package var timestamp: UInt64
    /// Columns of the picture, 0 where there is none.
    package var width: UInt32
    /// Rows of the picture, 0 where there is none.
    package var height: UInt32

    /// Creates a header.
    ///
    /// - Parameter payloadByteCount: Below 2^32.
    package init(
        kind: MessageKind, encoding: PayloadEncoding, sequence: UInt32 = 0, payloadByteCount: Int = 0,
        timestamp: UInt64 = 0, width: UInt32 = 0, height: UInt32 = 0
    ) {
        precondition((0...Int(UInt32.max)).contains(payloadByteCount))
        self.kind = kind
        self.encoding = encoding
        self.sequence = sequence
        self.payloadByteCount = payloadByteCount
        self.timestamp = timestamp
        self.width = width
        self.height = height
    }

    /// Reads a header.
    ///
    /// - Parameter bytes: The start of a message; what follows the header is not looked at.
    /// - Throws: `malformed` or `version` with a status to close the connection with, since nothing behind such bytes can
    ///   be trusted; `unknownKind` or `unknownEncoding`, which the connection survives.
    package init(_ bytes: UnsafeRawBufferPointer) throws(ProtocolError) {
        guard bytes.count >= Self.byteCount else {
            throw .broken("\(bytes.count) bytes are no message: a header has \(Self.byteCount)")
        }
        guard bytes.starts(with: Self.magic) else { throw .broken("the message does not begin with SLHP") }
        guard Self.versions.contains(bytes[4]) else {
            throw .version(bytes[4], spoken: "\(Self.versions.lowerBound) to \(Self.versions.upperBound)")
        }
        guard bytes[7] == 0 else { throw .broken("byte 7 of the header is \(bytes[7]), not 0") }
        guard let kind = MessageKind(rawValue: bytes[5]) else {
            throw ProtocolError(.unknownKind, "there is no message of kind \(bytes[5])")
        }
        guard let encoding = PayloadEncoding(rawValue: bytes[6]), kind.encodings.contains(encoding) else {
            throw ProtocolError(.unknownEncoding, "a message of kind \(kind) has no encoding \(bytes[6])")
        }
        func integer<Value: FixedWidthInteger>(at offset: Int) -> Value {
            Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
        self.init(
            kind: kind, encoding: encoding, sequence: integer(at: 8),
            payloadByteCount: Int(integer(at: 12) as UInt32), timestamp: integer(at: 16), width: integer(at: 24),
            height: integer(at: 28))
        version = bytes[4]
        guard !kind.hasPixels || (width > 0 && height > 0) else {
            throw .broken("a message of kind \(kind) without pixels: \(width)x\(height)")
        }
    }

    /// The sequence number that a header holds, whatever else is wrong with it; 0 where there are too few bytes.
    package static func sequence(in bytes: UnsafeRawBufferPointer) -> UInt32 {
        guard bytes.count >= 12 else { return 0 }
        return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    }

    /// Writes the header.
    ///
    /// - Parameter bytes: Room for `byteCount` bytes.
    package func write(to bytes: UnsafeMutableRawBufferPointer) {
        bytes.copyBytes(from: Self.magic)
        bytes[4] = version
        bytes[5] = kind.rawValue
        bytes[6] = encoding.rawValue
        bytes[7] = 0
        bytes.storeBytes(of: sequence.littleEndian, toByteOffset: 8, as: UInt32.self)
        bytes.storeBytes(of: UInt32(payloadByteCount).littleEndian, toByteOffset: 12, as: UInt32.self)
        bytes.storeBytes(of: timestamp.littleEndian, toByteOffset: 16, as: UInt64.self)
        bytes.storeBytes(of: width.littleEndian, toByteOffset: 24, as: UInt32.self)
        bytes.storeBytes(of: height.littleEndian, toByteOffset: 28, as: UInt32.self)
    }
}

extension ProtocolError {
    /// A message of a version that the connection does not speak.
    package static func version(_ version: UInt8, spoken: String) -> ProtocolError {
        ProtocolError(
            .version, "this server speaks version \(spoken) of the protocol, the message has \(version)",
            closeCode: CloseCode.protocolError)
    }

    /// A message that nothing can be made of, nor of what follows it.
    package static func broken(_ message: String) -> ProtocolError {
        ProtocolError(.malformed, message, closeCode: CloseCode.protocolError)
    }
}
