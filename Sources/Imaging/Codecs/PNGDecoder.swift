import CPNG

/// PNG of every kind through libpng.
enum PNGDecoder {
    static func decode(
        _ bytes: UnsafeRawBufferPointer, name: String, limits: ImageLimits, checking check: PictureClaim.Check
    ) throws(ImageError) -> DecodedImage {
        let chunks = try header(bytes, name: name, limits: limits)
        let (image, warning) = try pixels(bytes, name: name, chunks: chunks, asIndices: false, check)
        var notices = warning.map { ["PNG: \($0)"] } ?? []
        if chunks.frameCount > 1 {
            notices.append("animated PNG: the first of \(chunks.frameCount) frames is used")
        }
        return DecodedImage(image: image, format: .png, orientation: chunks.orientation, notices: notices)
    }

    /// The palette indices or gray levels as stored, one byte a pixel.
    static func decodeIndices(
        _ bytes: UnsafeRawBufferPointer, name: String, limits: ImageLimits
    ) throws(ImageError) -> Image {
        let chunks = try header(bytes, name: name, limits: limits)
        return try pixels(bytes, name: name, chunks: chunks, asIndices: true) { _ in }.image
    }

    private static func header(
        _ bytes: UnsafeRawBufferPointer, name: String, limits: ImageLimits
    ) throws(ImageError) -> PNGChunks {
        guard let chunks = PNGChunks(bytes) else {
            throw ImageError(name, bytes.count < 33 ? .truncated(.png) : .damaged(.png, "no header in front"))
        }
        try limits.check(chunks.size, name: name)
        return chunks
    }

    private static func pixels(
        _ bytes: UnsafeRawBufferPointer, name: String, chunks: PNGChunks, asIndices: Bool,
        _ check: PictureClaim.Check
    ) throws(ImageError) -> (image: Image, warning: String?) {
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let reader = cpng_reader_create(start, bytes.count) else {
            throw ImageError(name, .damaged(.png, "no memory to read it"))
        }
        defer { cpng_reader_destroy(reader) }

        guard cpng_read_header(reader, asIndices ? 1 : 0) != 0 else { throw error(reader, name) }
        let size = PixelSize(width: Int(reader.pointee.width), height: Int(reader.pointee.height))
        let format: PixelFormat? =
            switch reader.pointee.channelCount {
            case 1: .gray
            case 3: .rgb
            case 4: .rgba
            default: nil
            }
        // The header was read twice, here and by libpng: memory is taken for what the limits were checked for.
        guard let format, size == chunks.size else { throw ImageError(name, .damaged(.png, "unexpected layout")) }
        var claim = PictureClaim(size: size, channelCount: format.channelCount, fileByteCount: bytes.count)
        claim.addTurning(chunks.orientation)
        try check(claim)
        let image = try Image(size, format) { buffer throws(ImageError) in
            guard cpng_read_pixels(reader, buffer.baseAddress, size.width * format.channelCount) != 0 else {
                throw error(reader, name)
            }
        }
        let warning = cString(&reader.pointee.warning)
        return (image, warning.isEmpty ? nil : warning)
    }

    private static func error(_ reader: UnsafeMutablePointer<cpng_reader>, _ name: String) -> ImageError {
        ImageError(
            name, reader.pointee.truncated != 0 ? .truncated(.png) : .damaged(.png, cString(&reader.pointee.error)))
    }
}
