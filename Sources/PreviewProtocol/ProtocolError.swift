/// Why a message is refused, as it goes back over the wire.
package struct ProtocolError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of refusal. Their words are part of the protocol.
    package enum Code: String, Sendable, CaseIterable {
        /// The header breaks the rules of its format.
        case malformed
        /// Another version of the protocol.
        case version
        /// A kind that is not known, or that only servers send.
        case unknownKind = "unknown-kind"
        /// An encoding that is not known, or that the kind does not have.
        case unknownEncoding = "unknown-encoding"
        /// More bytes or pixels than the server takes.
        case tooLarge = "too-large"
        /// The picture cannot be decoded.
        case badPicture = "bad-picture"
        /// The picture has another size than its header says.
        case sizeMismatch = "size-mismatch"
        /// Settings that are no JSON, or name what is not there.
        case badSettings = "bad-settings"
        /// A frame where the server is the source.
        case unexpected
        /// More frames a second than the server takes.
        case rate
        /// A sequence number or a timestamp that does not rise.
        case outOfOrder = "out-of-order"
        /// The server has no room now.
        case busy
        /// Something failed in the server.
        case `internal`
    }

    /// What kind of refusal it is.
    package var code: Code
    /// The reason in plain words, one line.
    package var message: String
    /// The status that the connection is closed with. Nil: it stays.
    package var closeCode: UInt16?

    /// Creates a refusal.
    package init(_ code: Code, _ message: String, closeCode: UInt16? = nil) {
        self.code = code
        self.message = message
        self.closeCode = closeCode
    }

    /// The word and the reason.
    package var description: String { "\(code.rawValue): \(message)" }
}

/// Statuses of closed WebSockets (RFC 6455, section 7.4.1).
package enum CloseCode {
    /// The server ends.
    package static let goingAway: UInt16 = 1001
    /// A message that breaks the protocol.
    package static let protocolError: UInt16 = 1002
    /// A message of a type that is not taken: text.
    package static let unsupportedData: UInt16 = 1003
    /// Rules of the server were broken.
    package static let policyViolation: UInt16 = 1008
    /// A message that is too long.
    package static let messageTooBig: UInt16 = 1009
    /// Something failed in the server.
    package static let internalError: UInt16 = 1011
    /// No room now.
    package static let tryAgainLater: UInt16 = 1013
}
