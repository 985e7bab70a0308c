// modules: PreviewProtocol JSONText
// files: PreviewServer/Session/MessageAssembler.swift PreviewServer/Session/MessageRules.swift
//
// Fuzzes the messages of the preview: whole, and in pieces as a WebSocket brings them.
//
// What is read is written as the same bytes. Put together of pieces of any length, a message must be what it is as a whole,
// or be refused for the same reason. What arrives in order must rise.
//
// The first byte of an input is the length of the pieces, less one; the second one says how long each message is, so that
// one input is several messages.

private let byteLimit = 1 << 10
private let rules = MessageRules(pixelLimit: 1 << 16, takesFrames: true)

func fuzz(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let (pieceLength, messageLength) = (Int(input[0]) + 1, 32 + 8 * Int(input[1]))
    var assembler = MessageAssembler(byteLimit: byteLimit)
    var order = ArrivalOrder()
    var last: MessageHeader?
    for message in pieces(of: Array(input[2...]), length: messageLength) {
        let bytes = Array(message)
        readWhole(bytes)
        let whole = assemble(bytes, pieceLength: bytes.count)
        let inPieces = assemble(bytes, pieceLength: pieceLength, with: &assembler)
        switch (whole, inPieces) {
        case (.success(let header), .success(let other)): precondition(header == other, "the pieces change a message")
        case (.failure(let error), .failure(let other)):
            // A message past the limit that is damaged too: which is seen first depends on the pieces.
            let isBoth =
                [error.code, other.code].contains(.tooLarge) && other.closeCode != nil && error.closeCode != nil
            precondition(
                isBoth || (error.code == other.code && error.closeCode == other.closeCode),
                "\(error); in pieces \(other)")
            check(error)
        default: fatalError("\(whole); in pieces \(inPieces)")
        }
        guard case .success(let header) = whole, header.kind == .frame else { continue }
        do throws(ProtocolError) {
            try order.accept(header)
            precondition(header.sequence > last?.sequence ?? 0)
            if let last { precondition(header.timestamp > last.timestamp) }
            last = header
        } catch {
            precondition(error.code == .outOfOrder && error.closeCode == nil)
            check(error)
        }
    }
}

private func check(_ error: ProtocolError) {
    precondition(fault(inLine: error.message) == nil && fault(inLine: error.json) == nil)
}

private func readWhole(_ bytes: [UInt8]) {
    do throws(ProtocolError) {
        let message = try PreviewMessage(bytes)
        precondition(message.bytes == bytes, "a message is written as other bytes")
        precondition(message.header.kind.encodings.contains(message.header.encoding))
        let copy = PreviewMessage(
            message.header.kind, message.header.encoding, sequence: message.header.sequence,
            timestamp: message.header.timestamp, width: message.header.width, height: message.header.height,
            payload: message.payload)
        precondition(copy == message)
    } catch {
        check(error)
    }
}

private func assemble(_ bytes: [UInt8], pieceLength: Int) -> Result<MessageHeader, ProtocolError> {
    var assembler = MessageAssembler(byteLimit: byteLimit)
    return assemble(bytes, pieceLength: pieceLength, with: &assembler)
}

/// The assembler is as new when it has returned, whatever came of the message.
private func assemble(
    _ bytes: [UInt8], pieceLength: Int, with assembler: inout MessageAssembler
) -> Result<MessageHeader, ProtocolError> {
    for piece in pieces(of: bytes, length: pieceLength) {
        let isLast = piece.endIndex == bytes.count
        let outcome = piece.withUnsafeBytes { piece in
            Result { () throws(ProtocolError) in
                try assembler.append(piece, isLast: isLast, check: rules.check)
            }
        }
        switch outcome {
        case .success(let message?):
            precondition(isLast && message.bytes == bytes && !assembler.isInMessage)
            return .success(message.header)
        case .success(nil): precondition(!isLast && assembler.isInMessage)
        case .failure(let error):
            precondition(isLast || error.closeCode != nil, "refused before its end, and the connection stays")
            if piece.endIndex >= 12, error.code != .tooLarge {
                let sequence = bytes[8..<12].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                precondition(assembler.sequence == sequence, "the refusal names another frame")
            }
            assembler.reset()
            return .failure(error)
        }
    }
    fatalError("a message without end")
}

private func seed(_ messages: PreviewMessage...) -> [UInt8] {
    [6, 4] + messages.flatMap { $0.bytes + [UInt8](repeating: 0, count: 64 - $0.bytes.count) }
}

let seeds: [[UInt8]] = [
    [4, 0] + PreviewMessage(.dropped, .none, sequence: 9, timestamp: 1 << 60).bytes,
    [9, 1]
        + PreviewMessage(.frame, .rgb, sequence: 1, timestamp: 7, width: 2, height: 1, payload: [1, 2, 3, 4, 5, 6])
        .bytes,
    [255, 8] + PreviewMessage(.settings, json: #"{"outputs":["alpha"],"classes":[15]}"#).bytes,
    seed(
        PreviewMessage(.frame, .rgba, sequence: 1, timestamp: 7, width: 2, height: 4, payload: [UInt8](0..<32)),
        PreviewMessage(.frame, .rgba, sequence: 2, timestamp: 9, width: 4, height: 2, payload: [UInt8](0..<32)),
        PreviewMessage(.frame, .jpeg, sequence: 1 << 22, timestamp: 10, width: 4, height: 2, payload: [UInt8](0..<32)),
        PreviewMessage(
            .frame, .png, sequence: 1 << 22 + 1, timestamp: 1 << 52, width: 4, height: 2, payload: [UInt8](0..<32))),
    [0, 200]
        + PreviewMessage(.frame, .webp, sequence: 3, width: 9, height: 9, payload: [UInt8](repeating: 1, count: 1000))
        .bytes,
]
