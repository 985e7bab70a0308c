// Fuzzes what the live preview's server reads from the network: messages whole and in pieces, settings, masks, forms, and
// the stream of a video.
//
// The first byte of an input says which reader gets the rest.
//
// modules: Base PreviewProtocol JSONText
// files: PreviewServer/Session/MessageAssembler.swift PreviewServer/Session/MessageRules.swift WebProtocol/Multipart.swift Video/NUTReader.swift Video/ByteStream.swift Video/Rational.swift Video/VideoError.swift
// seeds: Tests/Fixtures/protocol

/// Runs one input through its reader.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = input.first else { return 0 }
    let rest = Array(input.dropFirst())
    switch kind % 6 {
    case 0: readMessage(rest)
    case 1: readPieces(rest)
    case 2: readSettings(rest)
    case 3: readMask(rest)
    case 4: readForm(rest)
    default: readStream(rest)
    }
    return 0
}

private func check(_ error: ProtocolError) {
    precondition(!error.message.contains("\n"), "an error of two lines")
    precondition(!error.json.contains("\n"))
}

private func readMessage(_ bytes: [UInt8]) {
    do throws(ProtocolError) {
        let message = try PreviewMessage(bytes)
        precondition(message.bytes == bytes)
    } catch {
        check(error)
    }
}

/// The first byte is the length of a piece.
private func readPieces(_ bytes: [UInt8]) {
    let length = Int(bytes.first ?? 0) + 1
    var assembler = MessageAssembler(byteLimit: 1 << 12)
    let rules = MessageRules(pixelLimit: 1 << 16, takesFrames: true)
    var start = 1
    while start < bytes.count {
        let piece = Array(bytes[start..<min(bytes.count, start + length)])
        start += length
        let outcome = piece.withUnsafeBytes { piece in
            Result { () throws(ProtocolError) in
                try assembler.append(piece, isLast: start >= bytes.count, check: rules.check)
            }
        }
        switch outcome {
        case .success(let message):
            if let message { precondition(message.bytes.count == 32 + message.header.payloadByteCount) }
        case .failure(let error):
            check(error)
            assembler.reset()
        }
    }
}

private func readSettings(_ bytes: [UInt8]) {
    do throws(ProtocolError) {
        let settings = try PreviewSettings().patched(with: bytes)
        guard settings.model != nil, settings.classes != nil, settings.maximumFramesPerSecond != nil else { return }
        let again = try? PreviewSettings().patched(with: Array(settings.json.utf8))
        precondition(again == settings, "the echo is not what it tells")
    } catch {
        check(error)
    }
}

/// The first bytes are the encoding, the width and the height.
private func readMask(_ bytes: [UInt8]) {
    guard bytes.count >= 3 else { return }
    let encoding = [PayloadEncoding.plain, .deflate, .runLength][Int(bytes[0] % 3)]
    let (width, height) = (Int(bytes[1]) + 1, Int(bytes[2]) + 1)
    let payload = Array(bytes.dropFirst(3))
    do throws(ProtocolError) {
        let mask = try MaskCodec.decode(payload, as: encoding, width: width, height: height)
        precondition(mask.count == width * height)
        let again = try? MaskCodec.decode(
            MaskCodec.encode(mask, as: encoding), as: encoding, width: width, height: height)
        precondition(again == mask)
    } catch {
        check(error)
    }
}

/// A line with the type, then the form.
private func readForm(_ bytes: [UInt8]) {
    let type = String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    let body = Array(bytes.drop { $0 != 10 }.dropFirst())
    if let range = try? Multipart.file(in: body, type: type) { precondition(range.upperBound <= body.count) }
}

private func readStream(_ bytes: [UInt8]) {
    // In pieces the same frames come out.
    precondition(frames(bytes, pieces: 1 << 16) == frames(bytes, pieces: 1), "the pieces change what is read")
}

/// The frames up to the first damage, of a stream that is read in pieces.
private func frames(_ bytes: [UInt8], pieces: Int) -> [NUTReader.Frame] {
    var rest = bytes[...]
    let stream = ByteStream { buffer in
        let piece = rest.prefix(min(buffer.count, pieces))
        rest = rest.dropFirst(piece.count)
        buffer.copyBytes(from: piece)
        return piece.count
    }
    guard var reader = try? NUTReader(stream, fileByteLimit: 1 << 12) else { return [] }
    // Memory for a bare frame is what its header claims.
    guard reader.track.frameByteCount ?? 0 <= 1 << 20 else { return [] }
    var frames: [NUTReader.Frame] = []
    while let frame = try? reader.next() { frames.append(frame) }
    return frames
}
