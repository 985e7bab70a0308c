// modules: Base Imaging
// seeds: Tests/Fixtures/imaging
//
// Fuzzes what is looked for in picture files before their decoders see them: EXIF blocks, segments of JPEG, chunks of PNG
// and WebP.
//
// Places that are found lie in the file. An EXIF block that is written here of the input's numbers has its orientation, and
// has the same inside a JPEG, a PNG and a WebP file, whatever lies before it.
//
// The first byte of an input says which: a file or block as it is, or a block to be written and what lies before it.

import CWebP

func fuzz(_ input: [UInt8]) {
    guard let first = input.first else { return }
    switch first {
    case 0: checkWriter(InputReader(Array(input.dropFirst())))
    case 1...3: Array(input.dropFirst()).withUnsafeBytes(walk)
    // Files of the project begin with none of these numbers.
    default: input.withUnsafeBytes(walk)
    }
}

private func walk(_ bytes: UnsafeRawBufferPointer) {
    _ = Orientation(exif: bytes)
    let segments = JPEGSegments(bytes)
    if let offset = segments.spectralSelection { precondition(offset >= 0 && offset + 3 <= bytes.count) }
    precondition((1...max(1, bytes.count / 3)).contains(JPEGSegments.pictureCount(bytes)))
    for skipsData in [false, true] {
        var markers = JPEGMarkers(bytes, from: 2)
        var end = 2
        while let marker = markers.next(skippingData: skipsData) {
            precondition(marker.end >= end + 2 && marker.end <= bytes.count, "a marker outside the file")
            precondition(marker.contents.count <= marker.end - end)
            end = marker.end
        }
    }
    if let chunks = PNGChunks(bytes) { precondition(chunks.frameCount >= 1 && bytes.count >= 33) }
    var data = WebPData(bytes: bytes.assumingMemoryBound(to: UInt8.self).baseAddress, size: bytes.count)
    _ = WebPDecoder.orientation(&data)
    precondition(ImageFormat.sniff(bytes) != .webp || bytes.count >= 12)
}

/// A TIFF header and a directory.
private func block(_ orientation: Orientation, bigEndian: Bool, type: UInt16, before: [[UInt8]]) -> [UInt8] {
    func number<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: bigEndian ? value.bigEndian : value.littleEndian, Array.init)
    }
    var bytes: [UInt8] = Array((bigEndian ? "MM" : "II").utf8) + number(UInt16(42)) + number(UInt32(8))
    bytes += number(UInt16(before.count + 1))
    for (index, contents) in before.enumerated() { bytes += number(UInt16(0x0100 + index)) + contents }
    bytes += number(UInt16(0x0112)) + number(type) + number(UInt32(1))
    let value = orientation.rawValue
    bytes += type == 1 ? [UInt8(value), 9, 9, 9] : type == 3 ? number(UInt16(value)) + [9, 9] : number(UInt32(value))
    return bytes + number(UInt32(0))
}

private func bigEndian(_ value: Int, bytes: Int) -> [UInt8] {
    (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

private func segment(_ code: UInt8, _ contents: [UInt8]) -> [UInt8] {
    [0xff, code] + bigEndian(contents.count + 2, bytes: 2) + contents
}

private func pngChunk(_ name: String, _ contents: [UInt8]) -> [UInt8] {
    bigEndian(contents.count, bytes: 4) + name.utf8 + contents + [0, 0, 0, 0]
}

private func riffChunk(_ name: String, _ contents: [UInt8]) -> [UInt8] {
    Array(name.utf8) + bigEndian(contents.count, bytes: 4).reversed() + contents + (contents.count % 2 == 1 ? [0] : [])
}

private func checkWriter(_ input: InputReader) {
    var input = input
    let orientation = Orientation(rawValue: 1 + input.below(8))!
    let isBigEndian = input.byte() % 2 == 1
    let type: UInt16 = [1, 3, 4][input.below(3)]
    let entries = (0..<input.below(5)).map { _ in
        let contents = input.bytes(10)
        return contents + [UInt8](repeating: 0, count: 10 - contents.count)
    }
    let exif = block(orientation, bigEndian: isBigEndian, type: type, before: entries)
    let prefix = Array("Exif\0\0".utf8)
    for bytes in [exif, prefix + exif] {
        precondition(bytes.withUnsafeBytes { Orientation(exif: $0) } == orientation, "the block's orientation is lost")
    }
    // Contents of other segments and chunks.
    let others = (0..<input.below(4)).map { _ in input.bytes(input.below(64)) }

    var jpeg: [UInt8] = [0xff, 0xd8]
    for contents in others where !contents.starts(with: prefix) { jpeg += [0xff] + segment(0xe1, contents) }
    let rest = Array(input.rest.prefix(300))
    jpeg += segment(0xe1, prefix + exif) + segment(0xe1, prefix + block(.up, bigEndian: true, type: 3, before: []))
    jpeg += segment(0xc0, [8, 0, 1, 0, 1, 1, 1, 0x11, 0]) + segment(0xda, [1, 1, 0, 0, 63, 0]) + rest
    let segments = jpeg.withUnsafeBytes { JPEGSegments($0) }
    precondition(segments.orientation == orientation, "the JPEG's orientation is lost")
    precondition(segments.spectralSelection == jpeg.count - rest.count - 3)

    var png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    png += pngChunk("IHDR", bigEndian(3, bytes: 4) + bigEndian(2, bytes: 4) + [8, 2, 0, 0, 0])
    for contents in others { png += pngChunk("tEXt", contents) }
    png += pngChunk("acTL", bigEndian(7, bytes: 4) + bigEndian(0, bytes: 4)) + pngChunk("eXIf", exif)
    png += pngChunk("IEND", []) + rest
    let chunks = png.withUnsafeBytes { PNGChunks($0) }
    precondition(chunks?.orientation == orientation && chunks?.frameCount == 7, "the PNG's orientation is lost")
    precondition(chunks?.size == PixelSize(width: 3, height: 2))

    var body = Array("WEBP".utf8) + riffChunk("VP8X", [8, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    // One pixel, lossless.
    body += riffChunk("VP8L", [0x2f, 0, 0, 0, 0, 0x07, 0x50, 0x8c, 0xc9, 0xf8, 0x1f, 0x11, 0xfd, 0x0f, 0, 0])
    for contents in others { body += riffChunk("XXXX", contents) }
    body += riffChunk("EXIF", exif)
    let webp = riffChunk("RIFF", body)
    let found = webp.withUnsafeBytes { bytes in
        var data = WebPData(bytes: bytes.assumingMemoryBound(to: UInt8.self).baseAddress, size: bytes.count)
        return WebPDecoder.orientation(&data)
    }
    precondition(found == orientation, "the WebP's orientation is lost")
}

let seeds: [[UInt8]] = [
    [2] + block(.right, bigEndian: true, type: 3, before: []),
    [3] + "Exif\0\0".utf8 + block(.left, bigEndian: false, type: 4, before: [[0, 3, 1, 0, 0, 0, 7, 0, 0, 0]]),
    [2, 0xff, 0xd8] + segment(0xe0, Array("JFIF\0".utf8)) + segment(0xe2, Array("MPF\0".utf8))
        + segment(0xda, [1, 0, 63, 0, 1, 2])
        + [1, 2, 0xff, 0, 3, 0xff, 0xd9, 0xff, 0xd8, 0xff, 0xd9],
    [0, 5, 1, 1, 2] + [UInt8](0..<100),
    [0, 3, 0, 2, 0, 3, 40] + "Exif\0\0MM".utf8 + [UInt8](repeating: 0xff, count: 80),
]
