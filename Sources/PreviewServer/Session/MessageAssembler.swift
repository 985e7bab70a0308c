import PreviewProtocol

/// Puts a message together from the pieces in which it comes, and refuses it as early as its header allows.
///
/// Memory grows with what has come, never with what is announced.
package struct MessageAssembler {
    private enum State {
        case collecting
        /// The header was refused; the rest is passed over.
        case passingOver(ProtocolError)
    }

    /// Looks at a header before the rest has come.
    package typealias Check = (MessageHeader) throws(ProtocolError) -> Void

    private let byteLimit: Int
    private var bytes: [UInt8] = []
    private var byteCount = 0
    private var state = State.collecting
    private var announcedByteCount: Int?

    /// Creates an assembler.
    ///
    /// - Parameter byteLimit: Bytes of a message, its header included.
    package init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// Whether a message has begun and not ended.
    package var isInMessage: Bool { byteCount > 0 }

    /// The sequence number of the message that was refused, where it got as far.
    package var sequence: UInt32 { bytes.withUnsafeBytes { MessageHeader.sequence(in: $0) } }

    /// Adds a piece.
    ///
    /// - Parameters:
    ///   - isLast: Whether the message ends with it.
    ///   - check: Called once for each header that can be read.
    /// - Returns: The whole message when it has ended.
    /// - Throws: What is wrong with the message, once for each: at once where the connection closes, otherwise at its end.
    package mutating func append(
        _ piece: UnsafeRawBufferPointer, isLast: Bool, check: Check
    ) throws(ProtocolError) -> (header: MessageHeader, bytes: [UInt8])? {
        byteCount += piece.count
        guard byteCount <= byteLimit else {
            throw ProtocolError(
                .tooLarge, "a message of more than \(byteLimit) bytes", closeCode: CloseCode.messageTooBig)
        }
        if case .collecting = state { try collect(piece, check) }
        guard isLast else { return nil }
        return try finish()
    }

    /// Whether the message was refused and what comes of it is not kept.
    package var isPassingOver: Bool {
        if case .passingOver = state { return true }
        return false
    }

    /// Passes over the rest of the message; `append` throws the error at its end.
    package mutating func passOver(_ error: ProtocolError) {
        // The header stays, for the sequence number; the memory of the rest does not.
        bytes = Array(bytes.prefix(MessageHeader.byteCount))
        state = .passingOver(error)
    }

    /// Forgets the message.
    package mutating func reset() { self = MessageAssembler(byteLimit: byteLimit) }

    private mutating func collect(_ piece: UnsafeRawBufferPointer, _ check: Check) throws(ProtocolError) {
        bytes.append(contentsOf: piece)
        if announcedByteCount == nil, bytes.count >= MessageHeader.byteCount {
            let parsed = bytes.withUnsafeBytes { bytes in
                Result { () throws(ProtocolError) in try MessageHeader(bytes) }
            }
            do throws(ProtocolError) {
                let header = try parsed.get()
                announcedByteCount = MessageHeader.byteCount + header.payloadByteCount
                guard MessageHeader.byteCount + header.payloadByteCount <= byteLimit else {
                    throw ProtocolError(
                        .tooLarge, "a message of \(header.payloadByteCount) bytes; the limit is \(byteLimit)",
                        closeCode: CloseCode.messageTooBig)
                }
                try check(header)
            } catch {
                if error.closeCode != nil { throw error }
                return passOver(error)
            }
        }
        if let announcedByteCount, bytes.count > announcedByteCount {
            throw .broken("more bytes follow the header than it announces")
        }
    }

    private mutating func finish() throws(ProtocolError) -> (header: MessageHeader, bytes: [UInt8]) {
        if case .passingOver(let error) = state { throw error }
        // The same as at its beginning, and the length.
        let parsed = bytes.withUnsafeBytes { bytes in
            Result { () throws(ProtocolError) in
                let header = try MessageHeader(bytes)
                let rest = bytes.count - MessageHeader.byteCount
                guard header.payloadByteCount == rest else {
                    throw .broken("the header announces \(header.payloadByteCount) bytes, and \(rest) follow")
                }
                return header
            }
        }
        let header = try parsed.get()
        defer { reset() }
        return (header, bytes)
    }
}
