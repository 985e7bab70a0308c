// modules: WebProtocol
// seeds: Tests/Fixtures/web
//
// Fuzzes the frames of a WebSocket, as they come from a client.
//
// In pieces of any length they must be the same messages and the same violation. A frame with the head that the server's
// writer makes, under a mask, must be read as its payload.
//
// The first byte of an input is the length of the pieces, less one.

func fuzz(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    let (whole, inPieces) = (read(bytes, inPieces: max(1, bytes.count)), read(bytes, inPieces: Int(first) + 1))
    precondition(
        whole.events == inPieces.events && whole.violation == inPieces.violation, "the pieces change the frames")
    precondition(whole.events.count <= bytes.count)
    if let violation = whole.violation {
        precondition((1002...1007).contains(violation.code) && fault(inLine: violation.reason) == nil)
    }
    for event in whole.events {
        switch event {
        case .ping(let payload), .pong(let payload): precondition(payload.count <= 125)
        default: break
        }
    }
    checkWriter(bytes, kind: first)
}

/// The events, the pieces of a message put together, and what ended them.
private func read(
    _ bytes: [UInt8], inPieces length: Int
) -> (events: [WebSocketFrameReader.Event], violation: WebSocketFrameReader.Violation?) {
    var reader = WebSocketFrameReader()
    var events: [WebSocketFrameReader.Event] = []
    /// What has come of a message since the last event.
    var open: (bytes: [UInt8], isText: Bool)?
    func close(isLast: Bool) {
        if let message = open { events.append(.data(message.bytes, isText: message.isText, isLast: isLast)) }
        open = nil
    }
    for piece in pieces(of: bytes, length: length) {
        do throws(WebSocketFrameReader.Violation) {
            let outcome = piece.withUnsafeBytes { piece in
                Result { () throws(WebSocketFrameReader.Violation) in
                    try reader.read(piece) { event in
                        if case .data(let more, let isText, let isLast) = event {
                            if open == nil { open = ([], isText) }
                            precondition(open?.isText == isText, "a message changes its kind")
                            open?.bytes += more
                            if isLast { close(isLast: true) }
                        } else {
                            close(isLast: false)
                            events.append(event)
                        }
                        return true
                    }
                }
            }
            try outcome.get()
        } catch {
            close(isLast: false)
            return (events, error)
        }
    }
    close(isLast: false)
    return (events, nil)
}

/// A server's frame has no mask: it is put on here.
private func checkWriter(_ payload: [UInt8], kind: UInt8) {
    let isPing = kind % 2 == 1 && payload.count <= 125
    var frame =
        isPing ? WebSocketFrameHead.ping(byteCount: payload.count) : WebSocketFrameHead.binary(byteCount: payload.count)
    precondition(frame.count <= WebSocketFrameHead.longest)
    frame[1] |= 0x80
    let mask = [kind, kind &* 3, 0, 255]
    frame += mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    let (events, violation) = read(frame, inPieces: 1 + Int(kind))
    precondition(violation == nil)
    precondition(events == [isPing ? .ping(payload) : .data(payload, isText: false, isLast: true)])
}

private func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var head = WebSocketFrameHead.binary(byteCount: payload.count)
    head[0] = first
    head[1] |= 0x80
    return head + [1, 2, 3, 4] + payload.enumerated().map { $1 ^ [1, 2, 3, 4][$0 & 3] }
}

let seeds: [[UInt8]] = [
    [0] + frame(0x81, Array("text".utf8)),
    [2] + frame(0x02, [1, 2, 3]) + frame(0x89, [9]) + frame(0x00, [4]) + frame(0x80, [5, 6]),
    [9] + frame(0x82, [UInt8](repeating: 7, count: 200)),
    [255] + frame(0x8a, []) + frame(0x88, [3, 232] + "bye".utf8) + frame(0x82, [1]),
    [4] + [0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4, 5],
]
