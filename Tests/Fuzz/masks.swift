// modules: PreviewProtocol JSONText
//
// Fuzzes masks as they travel: plain, in runs, deflated.
//
// A mask that is read has its size and, written again, is read as itself; any bytes taken for a mask are written and read
// back, and what is read with a byte less or more is refused.
//
// The first bytes of an input are the encoding, the width and the height.

func fuzz(_ input: [UInt8]) {
    guard input.count >= 3 else { return }
    let encoding = [PayloadEncoding.plain, .deflate, .runLength][Int(input[0] % 3)]
    let (width, height) = (Int(input[1]) + 1, Int(input[2]) + 1)
    let payload = Array(input.dropFirst(3))
    do throws(ProtocolError) {
        let mask = try MaskCodec.decode(payload, as: encoding, width: width, height: height)
        precondition(mask.count == width * height)
        check(mask, width: width, height: height)
    } catch {
        precondition(error.code == .malformed && fault(inLine: error.message) == nil)
    }
    if !payload.isEmpty { check(payload, width: payload.count, height: 1) }
}

private func check(_ mask: [UInt8], width: Int, height: Int) {
    for encoding in [PayloadEncoding.plain, .deflate, .runLength] {
        let written = MaskCodec.encode(mask, as: encoding)
        let read = try? MaskCodec.decode(written, as: encoding, width: width, height: height)
        precondition(read == mask, "\(encoding): a mask is not read as it was written")
        precondition((try? MaskCodec.decode(written + [0], as: encoding, width: width, height: height)) == nil)
        let cut = Array(written.dropLast())
        precondition((try? MaskCodec.decode(cut, as: encoding, width: width, height: height)) == nil)
    }
}

private let mask = [UInt8](repeating: 0, count: 300) + [UInt8](0..<100) + [UInt8](repeating: 255, count: 112)
let seeds: [[UInt8]] = [PayloadEncoding.plain, .deflate, .runLength].enumerated().map { index, encoding in
    [UInt8(index), 31, 15] + MaskCodec.encode(mask, as: encoding)
}
