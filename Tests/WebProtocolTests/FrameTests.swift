import Testing
import WebProtocol

@Suite("WebSocket frames")
struct FrameTests {
    typealias Event = WebSocketFrameReader.Event

    /// A client's frame.
    private static func frame(
        _ first: UInt8, _ payload: [UInt8], mask: [UInt8]? = [1, 2, 3, 4], length: [UInt8]? = nil
    ) -> [UInt8] {
        var head = [first]
        let bit: UInt8 = mask == nil ? 0 : 0x80
        if let length {
            head += [length[0] | bit] + length.dropFirst()
        } else if payload.count < 126 {
            head.append(bit | UInt8(payload.count))
        } else if payload.count < 65_536 {
            head += [bit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        } else {
            head += [bit | 127] + (0..<8).reversed().map { UInt8(payload.count >> (8 * $0) & 255) }
        }
        return head + (mask ?? []) + payload.enumerated().map { $1 ^ (mask ?? [0, 0, 0, 0])[$0 & 3] }
    }

    /// What bytes say that come in pieces, neighbouring pieces of a message together; and the code of a violation.
    private func read(_ bytes: [UInt8], pieces: Int) -> (events: [Event], code: Int?) {
        var reader = WebSocketFrameReader()
        var events: [Event] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            do throws(WebSocketFrameReader.Violation) {
                try bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { bytes in
                    Result { () throws(WebSocketFrameReader.Violation) in
                        try reader.read(bytes) { event in
                            if case .data(let more, let isText, let isLast) = event,
                                case .data(let earlier, isText, isLast: false)? = events.last
                            {
                                events[events.count - 1] = .data(earlier + more, isText: isText, isLast: isLast)
                            } else {
                                events.append(event)
                            }
                            return true
                        }
                    }
                }.get()
            } catch {
                return (events, error.code)
            }
        }
        return (events, nil)
    }

    @Test("say the same in pieces of any size", arguments: [1, 2, 3, 5, 7, 100, 70_000, 1 << 20])
    func pieces(size: Int) {
        let long = (0..<70_000).map { UInt8($0 & 255) }
        let medium = Array(long[..<300])
        let bytes =
            Self.frame(0x82, []) + Self.frame(0x82, [9]) + Self.frame(0x02, medium) + Self.frame(0x89, [7, 8])
            + Self.frame(0x00, [5]) + Self.frame(0x80, medium) + Self.frame(0x82, long) + Self.frame(0x81, [65])
            + Self.frame(0x8a, []) + Self.frame(0x88, [3, 232, 65])
        let (events, code) = read(bytes, pieces: size)
        #expect(code == nil)
        #expect(
            events.filter { if case .ping = $0 { false } else { true } } == [
                .data([], isText: false, isLast: true), .data([9], isText: false, isLast: true),
                .data(medium, isText: false, isLast: false), .data([5] + medium, isText: false, isLast: true),
                .data(long, isText: false, isLast: true), .data([65], isText: true, isLast: true), .pong([]),
                .close(code: 1000),
            ])
        #expect(events.contains(.ping([7, 8])))
    }

    @Test(
        "that the standard does not allow end the connection",
        arguments: [
            ("unmasked", frame(0x82, [1], mask: nil), 1002), ("reserved bit", frame(0xc2, [1]), 1002),
            ("unknown kind", frame(0x83, []), 1002), ("control frame in pieces", frame(0x09, []), 1002),
            ("long control frame", frame(0x89, [UInt8](repeating: 0, count: 126)), 1002),
            ("nothing to continue", frame(0x80, [1]), 1002),
            ("message in a message", frame(0x02, [1]) + frame(0x82, [1]), 1002),
            ("length not the shortest", frame(0x82, [1], length: [126, 0, 1]), 1002),
            ("length not the shortest of eight", frame(0x82, [1], length: [127, 0, 0, 0, 0, 0, 0, 0xff, 0xff]), 1002),
            ("length with the highest bit", frame(0x82, [], length: [127, 0xff, 0, 0, 0, 0, 0, 0, 0]), 1002),
            ("code of one byte", frame(0x88, [3]), 1002), ("code 1005", frame(0x88, [3, 237]), 1002),
            ("reason that is no text", frame(0x88, [3, 232, 0xff]), 1007),
        ] as [(String, [UInt8], Int)])
    func violations(name: String, bytes: [UInt8], code: Int) {
        for pieces in [1, 4, 1000] { #expect(read(bytes, pieces: pieces).code == code, "\(name)") }
    }

    @Test("take no memory for what they only announce")
    func announced() throws {
        var reader = WebSocketFrameReader()
        let head = Self.frame(0x82, [], length: [127, 0x3f, 0, 0, 0, 0, 0, 0, 0])
        var count = 0
        try (head + [1, 2, 3]).withUnsafeBytes {
            try reader.read($0) { _ in
                count += 1; return true
            }
        }
        #expect(count == 1 && reader.isInMessage)
    }

    @Test("After the other side has closed nothing is read")
    func closed() {
        #expect(read(Self.frame(0x88, []) + Self.frame(0x82, [1]), pieces: 1000).events == [.close(code: nil)])
    }

    @Test(
        "A server's frames have the shortest head", arguments: [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)])
    func heads(byteCount: Int, count: Int) {
        let head = WebSocketFrameHead.binary(byteCount: byteCount)
        #expect(head.count == count && head[0] == 0x82)
        let length = head.count == 2 ? Int(head[1]) : head.dropFirst(2).reduce(0) { $0 << 8 | Int($1) }
        #expect(length == byteCount)
        #expect(WebSocketFrameHead.close(code: 1001) == [0x88, 2, 3, 233])
    }
}
