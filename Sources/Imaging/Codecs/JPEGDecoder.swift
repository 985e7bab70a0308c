import CTurboJPEG

/// JPEG through TurboJPEG: baseline and progressive, gray, YCbCr, RGB, CMYK and YCCK.
enum JPEGDecoder {
    static func decode(
        _ bytes: UnsafeRawBufferPointer, name: String, limits: ImageLimits, checking check: PictureClaim.Check
    ) throws(ImageError) -> DecodedImage {
        guard let decoder = tjInitDecompress() else {
            throw ImageError(name, .damaged(.jpeg, "no memory to read it"))
        }
        defer { tjDestroy(decoder) }
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress

        // The result code is of no use: it also complains about unusual subsampling, which decodes all the same.
        var (width, height, subsampling, colorSpace): (Int32, Int32, Int32, Int32) = (-1, -1, -1, -1)
        _ = tjDecompressHeader3(decoder, start, UInt(bytes.count), &width, &height, &subsampling, &colorSpace)
        guard width >= 0, height >= 0 else { throw error(message(decoder), name) }
        let size = PixelSize(width: Int(width), height: Int(height))
        try limits.check(size, name: name)
        guard colorSpace >= 0 else { throw ImageError(name, .unsupported("a JPEG with this number of channels")) }

        let segments = JPEGSegments(bytes)
        let hasInks = colorSpace == TJCS_CMYK.rawValue || colorSpace == TJCS_YCCK.rawValue
        var claim = PictureClaim(size: size, channelCount: 3, fileByteCount: bytes.count)
        if hasInks { claim.workingByteCount += 4 * size.pixelCount }
        // All coefficients, 16 bits each, are kept until the last scan has come.
        if segments.isProgressive { claim.workingByteCount += (hasInks ? 8 : 6) * size.pixelCount }
        claim.addTurning(segments.orientation)
        try check(claim)
        var notices: [String] = []
        func decompress(_ format: TJPF, into buffer: UnsafeMutableBufferPointer<UInt8>) throws(ImageError) {
            func run(_ file: UnsafePointer<UInt8>?) -> Bool {
                tjDecompress2(
                    decoder, file, UInt(bytes.count), buffer.baseAddress, width, 0, height, Int32(format.rawValue),
                    TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) == 0
            }
            if run(start) { return }
            // Some telephones leave zeros in the scan's header, which mean nothing in sequential files. Going on after the
            // warning would hide the next one, so the header is put right in a copy.
            if message(decoder).hasPrefix("Invalid SOS parameters"), let offset = segments.spectralSelection {
                var repaired = Array(bytes)
                repaired.replaceSubrange(offset..<offset + 3, with: [0, 63, 0])
                if run(repaired) {
                    notices.append("JPEG: wrong numbers in the scan's header, ignored")
                    return
                }
            }
            throw error(message(decoder), name)
        }

        let image: Image
        if hasInks {
            let inks = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: size.pixelCount * 4)
            defer { inks.deallocate() }
            try decompress(TJPF_CMYK, into: inks)
            image = Image(size, .rgb) { convertInks(UnsafeBufferPointer(inks), into: $0) }
        } else {
            image = try Image(size, .rgb) { buffer throws(ImageError) in try decompress(TJPF_RGB, into: buffer) }
        }
        let count = JPEGSegments.pictureCount(bytes)
        if count > 1 { notices.append("Motion JPEG: the first of \(count) pictures is used") }
        return DecodedImage(image: image, format: .jpeg, orientation: segments.orientation, notices: notices)
    }

    /// Inks to light: a channel is the product of its ink's and black's lack.
    ///
    /// Adobe's programs store the lack of ink (255 = none), and files without their marker do the same in practice,
    /// which is also what Pillow takes for granted.
    private static func convertInks(_ inks: UnsafeBufferPointer<UInt8>, into rgb: UnsafeMutableBufferPointer<UInt8>) {
        guard let from = inks.baseAddress, let to = rgb.baseAddress else { return }
        for pixel in 0..<inks.count / 4 {
            let black = UInt32(from[pixel * 4 + 3])
            for channel in 0..<3 {
                to[pixel * 3 + channel] = UInt8(
                    truncatingIfNeeded: dividedBy255(UInt32(from[pixel * 4 + channel]) &* black))
            }
        }
    }

    private static func error(_ message: String, _ name: String) -> ImageError {
        if message.hasPrefix("Premature end") { return ImageError(name, .truncated(.jpeg)) }
        return ImageError(name, .damaged(.jpeg, message))
    }

    private static func message(_ decoder: tjhandle) -> String {
        tjGetErrorStr2(decoder).map { String(cString: $0) } ?? "unknown error"
    }
}
