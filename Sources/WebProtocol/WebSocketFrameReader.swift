/// Reads the frames of a client from the bytes as they come: RFC 6455, 5.
///
/// The payload of data frames is handed on as it comes, so nothing grows with what a frame announces. Control frames are whole
/// before they are handed on: they have at most 125 bytes.
package struct WebSocketFrameReader: Sendable {
    /// What the bytes say.
    package enum Event: Equatable, Sendable {
        /// A piece of a message: its bytes, whether it is text, and whether the message ends with it.
        case data([UInt8], isText: Bool, isLast: Bool)
        /// To be answered by a pong with the same bytes.
        case ping([UInt8])
        case pong([UInt8])
        /// The other side closes. Nil: it gives no code.
        case close(code: Int?)
    }

    /// A frame that the standard does not allow: the connection is closed with this code.
    package struct Violation: Error, Equatable, Sendable {
        package let code: Int
        package let reason: String
    }

    fileprivate enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    fileprivate struct Frame {
        let opcode: Opcode
        let isFinal: Bool
        let mask: (UInt8, UInt8, UInt8, UInt8)
        var rest: Int
        var position = 0
        var control: [UInt8] = []
    }

    private var head: [UInt8] = []
    private var frame: Frame?
    /// Whether the message that has begun is text. Nil: none has.
    private var isText: Bool?
    private var isClosed = false

    package init() {}

    /// Whether a message has begun and not ended.
    package var isInMessage: Bool { isText != nil || frame != nil || !head.isEmpty }

    /// Reads bytes.
    ///
    /// - Parameter take: Told of each event, in order. It returns whether to go on.
    /// - Throws: `Violation`; what came before it has been told of.
    package mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ take: (Event) -> Bool
    ) throws(Violation) {
        var position = 0
        while position < bytes.count || frame?.rest == 0, !isClosed {
            guard var frame else {
                head.append(bytes[position])
                position += 1
                self.frame = try begin()
                continue
            }
            let count = min(frame.rest, bytes.count - position)
            var piece = Array(UnsafeRawBufferPointer(rebasing: bytes[position..<position + count]))
            frame.unmask(&piece)
            frame.rest -= count
            position += count
            let ends = frame.rest == 0
            self.frame = ends ? nil : frame
            if frame.opcode.isControl {
                frame.control += piece
                guard ends else {
                    self.frame = frame
                    continue
                }
                guard take(try control(frame)) else { return }
            } else {
                let text = isText ?? false
                let isLast = ends && frame.isFinal
                if isLast { isText = nil }
                if !piece.isEmpty || isLast {
                    guard take(.data(piece, isText: text, isLast: isLast)) else { return }
                }
            }
        }
    }

    /// The frame, once its head is whole.
    private mutating func begin() throws(Violation) -> Frame? {
        guard head[0] & 0x70 == 0 else { throw Violation(code: 1002, reason: "a reserved bit is set") }
        guard let opcode = Opcode(rawValue: head[0] & 0x0f) else {
            throw Violation(code: 1002, reason: "there is no such kind of frame")
        }
        let isFinal = head[0] & 0x80 != 0
        guard isFinal || !opcode.isControl else {
            throw Violation(code: 1002, reason: "a control frame is in pieces")
        }
        switch opcode {
        case .continuation where isText == nil:
            throw Violation(code: 1002, reason: "nothing is to be continued")
        case .text where isText != nil, .binary where isText != nil:
            throw Violation(code: 1002, reason: "a message begins inside another one")
        default: break
        }
        guard head.count >= 2 else { return nil }
        guard head[1] & 0x80 != 0 else { throw Violation(code: 1002, reason: "a client's frames are masked") }
        let short = Int(head[1] & 0x7f)
        guard short <= 125 || !opcode.isControl else {
            throw Violation(code: 1002, reason: "a control frame has at most 125 bytes")
        }
        let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
        guard head.count == 2 + lengthBytes + 4 else { return nil }
        var length = lengthBytes == 0 ? UInt64(short) : 0
        for byte in head[2..<2 + lengthBytes] { length = length << 8 | UInt64(byte) }
        guard lengthBytes == 0 || length >= (lengthBytes == 2 ? 126 : 65_536), length < 1 << 62 else {
            throw Violation(code: 1002, reason: "a length is not written in its shortest form")
        }
        let mask = (head[2 + lengthBytes], head[3 + lengthBytes], head[4 + lengthBytes], head[5 + lengthBytes])
        head.removeAll(keepingCapacity: true)
        if opcode == .text || opcode == .binary { isText = opcode == .text }
        return Frame(opcode: opcode, isFinal: isFinal, mask: mask, rest: Int(length))
    }

    private mutating func control(_ frame: Frame) throws(Violation) -> Event {
        switch frame.opcode {
        case .ping: return .ping(frame.control)
        case .pong: return .pong(frame.control)
        default:
            isClosed = true
            guard !frame.control.isEmpty else { return .close(code: nil) }
            guard frame.control.count >= 2 else { throw Violation(code: 1002, reason: "a code has two bytes") }
            let code = Int(frame.control[0]) << 8 | Int(frame.control[1])
            switch code {
            case 1000...1003, 1007...1014, 3000...4999: break
            default: throw Violation(code: 1002, reason: "there is no code \(code)")
            }
            guard String(validating: frame.control[2...], as: UTF8.self) != nil else {
                throw Violation(code: 1007, reason: "a reason is UTF-8")
            }
            return .close(code: code)
        }
    }
}

extension WebSocketFrameReader.Frame {
    /// Takes the mask off the next bytes of the payload.
    fileprivate mutating func unmask(_ bytes: inout [UInt8]) {
        let key = [mask.0, mask.1, mask.2, mask.3]
        let start = position
        bytes.withUnsafeMutableBufferPointer { bytes in
            for index in bytes.indices { bytes[index] ^= key[(start + index) & 3] }
        }
        position = (start + bytes.count) & 3
    }
}

/// The head of a server's frame, which has no mask.
package enum WebSocketFrameHead {
    /// Most bytes of it.
    package static let longest = 10

    /// A whole binary message's.
    package static func binary(byteCount: Int) -> [UInt8] { head(0x82, byteCount) }
    /// A ping's, a pong's; their payload has at most 125 bytes.
    package static func ping(byteCount: Int) -> [UInt8] { head(0x89, byteCount) }
    package static func pong(byteCount: Int) -> [UInt8] { head(0x8a, byteCount) }

    /// A whole closing frame.
    package static func close(code: Int) -> [UInt8] { head(0x88, 2) + [UInt8(code >> 8 & 0xff), UInt8(code & 0xff)] }

    private static func head(_ first: UInt8, _ count: Int) -> [UInt8] {
        if count < 126 { return [first, UInt8(count)] }
        let (marker, byteCount): (UInt8, Int) = count < 65_536 ? (126, 2) : (127, 8)
        return [first, marker] + (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }
}
