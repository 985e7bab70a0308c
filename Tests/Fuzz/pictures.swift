// modules: Base Imaging
// seeds: Tests/Fixtures/imaging
// length: 8192
//
// Fuzzes the picture decoders: whatever the bytes, `ImageFile` gives a picture or an error and touches nothing else.
//
// Small limits keep every run short; the picture is then used as a real one would be, so that a size that does not
// fit its bytes is found.

func fuzz(_ input: [UInt8]) {
    let limits = ImageLimits(maxPixels: 1 << 14, maxSide: 4096)
    input.withUnsafeBytes { bytes in
        decode(bytes, limits)
        if ImageFormat.sniff(bytes) == .png {
            withRightChecksums(bytes).withUnsafeBytes { decode($0, limits) }
        }
    }
}

let seeds: [[UInt8]] = []

private func decode(_ input: UnsafeRawBufferPointer, _ limits: ImageLimits) {
    do {
        let decoded = try ImageFile.decode(input, name: "input", limits: limits)
        let picture = decoded.image
        precondition(picture.size.pixelCount <= limits.maxPixels)
        precondition(picture.bytes.count == picture.size.pixelCount * picture.format.channelCount)
        let network = PixelSize(width: 17, height: 13)
        for fit in Fit.allCases {
            _ = Preprocessor(picture: picture.size, network: network, fit: fit).prepare(picture)
        }
        _ = decoded.image.oriented(Orientation(rawValue: 1 + input.count % 8) ?? .up)
    } catch {
        precondition(!error.description.contains("\n"))
    }
    if ImageFormat.sniff(input) == .png {
        _ = try? PNGDecoder.decodeIndices(input, name: "input", limits: limits)
    }
}

/// A PNG file with the checksum of every chunk put right, so that changes get past libpng's first look.
private func withRightChecksums(_ file: UnsafeRawBufferPointer) -> [UInt8] {
    var bytes = Array(file)
    var offset = 8
    while let length = ByteReader(file).uint32(at: offset).map(Int.init),
        let contents = ByteReader(file).slice(at: offset + 4, count: length + 4), offset + 12 + length <= bytes.count
    {
        var crc: UInt32 = 0xffff_ffff
        for byte in contents {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xedb8_8320 ^ (crc >> 1) : crc >> 1 }
        }
        for place in 0..<4 {
            bytes[offset + 8 + length + place] = UInt8(truncatingIfNeeded: ~crc >> UInt32(24 - 8 * place))
        }
        offset += 12 + length
    }
    return bytes
}
