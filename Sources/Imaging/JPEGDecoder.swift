import CTurboJPEG

/// JPEG through TurboJPEG: baseline and progressive, gray, YCbCr, RGB, CMYK and YCCK.
enum JPEGDecoder {
    static func decode(
        _ bytes: UnsafeRawBufferPointer, name: String, limits: ImageLimits
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

        let isCMYK = colorSpace == TJCS_CMYK.rawValue || colorSpace == TJCS_YCCK.rawValue
        var warning: String?
        func decompress(_ format: TJPF, into buffer: UnsafeMutableBufferPointer<UInt8>) throws(ImageError) {
            func run(_ flags: Int32) -> Bool {
                tjDecompress2(
                    decoder, start, UInt(bytes.count), buffer.baseAddress, width, 0, height, Int32(format.rawValue),
                    flags | TJFLAG_LIMITSCANS) == 0
            }
            if run(TJFLAG_STOPONWARNING) { return }
            let first = message(decoder)
            guard tjGetErrorCode(decoder) == TJERR_WARNING.rawValue, isHarmless(first) else {
                throw error(first, name)
            }
            // Warnings come in the order of the file, and TurboJPEG keeps the last one: if that is harmless, all were.
            guard !run(0), isHarmless(message(decoder)) else { throw error(message(decoder), name) }
            warning = first
        }

        let image: Image
        if isCMYK {
            let inks = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: size.pixelCount * 4)
            defer { inks.deallocate() }
            try decompress(TJPF_CMYK, into: inks)
            image = Image(size, .rgb) { convertInks(UnsafeBufferPointer(inks), into: $0) }
        } else {
            image = try Image(size, .rgb) { buffer throws(ImageError) in try decompress(TJPF_RGB, into: buffer) }
        }
        return DecodedImage(
            image: image, format: .jpeg, orientation: Orientation(jpeg: bytes),
            notices: warning.map { ["JPEG: \($0)"] } ?? [])
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

    /// Warnings about the headers alone: the picture data behind them is whole. Some telephones write such files.
    private static func isHarmless(_ message: String) -> Bool {
        ["Invalid SOS parameters", "Warning: unknown JFIF revision", "Unknown Adobe color transform"]
            .contains { message.hasPrefix($0) }
    }

    private static func error(_ message: String, _ name: String) -> ImageError {
        if message.hasPrefix("Premature end") { return ImageError(name, .truncated(.jpeg)) }
        return ImageError(name, .damaged(.jpeg, message))
    }

    private static func message(_ decoder: tjhandle) -> String {
        tjGetErrorStr2(decoder).map { String(cString: $0) } ?? "unknown error"
    }
}
