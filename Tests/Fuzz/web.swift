// Fuzzes what the live preview's server reads before it knows anything of who sends it: heads of requests and WebSocket frames.
//
// The first byte of an input says which, the second how long the pieces are. Whole or in pieces, the bytes must say the same.
//
// modules: WebProtocol
// seeds: Tests/Fixtures/web

/// Runs one input through its reader.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard count > 2 else { return 0 }
    let (rest, length) = (Array(input.dropFirst(2)), Int(input[1]) + 1)
    if input[0] % 2 == 0 { readHead(rest, length) } else { readFrames(rest, length) }
    return 0
}

private func head(_ bytes: [UInt8], _ length: Int) -> Result<(HTTPRequest, [UInt8])?, HTTPRefusal> {
    var reader = HTTPHeadReader()
    var start = 0
    while start < bytes.count {
        let end = min(bytes.count, start + length)
        do throws(HTTPRefusal) {
            if let (request, rest) = try reader.append(bytes[start..<end]) {
                return .success((request, rest + bytes[end...]))
            }
        } catch {
            return .failure(error)
        }
        start = end
    }
    return .success(nil)
}

private func readHead(_ bytes: [UInt8], _ length: Int) {
    switch (head(bytes, bytes.count), head(bytes, length)) {
    case (.success(nil), .success(nil)): precondition(bytes.count <= HTTPHeadReader.headLimit)
    case (.success(let whole?), .success(let pieces?)):
        let (request, rest) = whole
        precondition(request.fields == pieces.0.fields && request.path == pieces.0.path && rest == pieces.1)
        precondition(!request.path.utf8.contains { $0 < 32 || $0 == 127 })
        precondition(request.query.allSatisfy { !($0.name + $0.value).utf8.contains { $0 < 32 || $0 == 127 } })
        precondition(request.fields.values.allSatisfy { !$0.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } })
        if let length = request.fields["content-length"] { precondition(Int(length) != nil) }
        _ = try? WebSocketHandshake(request)
        _ = try? Multipart.file(in: rest, type: request.fields["content-type"] ?? "")
    // What is refused early in pieces may be refused for another reason as a whole, but never taken.
    case (.failure(let whole), .failure(let pieces)):
        precondition(whole.status >= 400 && pieces.status >= 400 && !whole.line.contains("\n"))
    case (.failure, .success(nil)), (.success(nil), .failure): break
    default: fatalError("taken in one way and refused in the other")
    }
}

private func frames(_ bytes: [UInt8], _ length: Int) -> (events: [WebSocketFrameReader.Event], code: Int?) {
    var reader = WebSocketFrameReader()
    var events: [WebSocketFrameReader.Event] = []
    for start in stride(from: 0, to: bytes.count, by: length) {
        let piece = Array(bytes[start..<min(bytes.count, start + length)])
        let outcome = piece.withUnsafeBytes { piece in
            Result { () throws(WebSocketFrameReader.Violation) in
                try reader.read(piece) { event in
                    // Pieces of a message together.
                    if case .data(let more, let isText, let isLast) = event,
                        case .data(let earlier, let wasText, isLast: false)? = events.last
                    {
                        precondition(isText == wasText)
                        events[events.count - 1] = .data(earlier + more, isText: isText, isLast: isLast)
                    } else {
                        events.append(event)
                    }
                    return true
                }
            }
        }
        if case .failure(let violation) = outcome { return (events, violation.code) }
    }
    return (events, nil)
}

private func readFrames(_ bytes: [UInt8], _ length: Int) {
    let (whole, pieces) = (frames(bytes, max(1, bytes.count)), frames(bytes, length))
    precondition(whole.events == pieces.events && whole.code == pieces.code)
    precondition(whole.events.count <= bytes.count)
}
