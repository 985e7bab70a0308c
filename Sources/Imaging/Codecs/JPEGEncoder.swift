import CTurboJPEG

/// JPEG through TurboJPEG: baseline, colour at full resolution, since class colours have sharp edges.
enum JPEGEncoder {
    /// Alpha is put over white, as JPEG has none.
    static func encode(_ image: Image, quality: Int, name: String) throws(ImageError) -> [UInt8] {
        let limit = ImageFormat.jpeg.maxSide
        guard image.width <= limit, image.height <= limit else {
            throw ImageError(name, .sideTooLong(width: image.width, height: image.height, limit: limit))
        }
        let image = image.format.hasAlpha ? image.flattened(over: .white) : image
        let format =
            switch image.format {
            case .gray: TJPF_GRAY
            case .bgr: TJPF_BGR
            default: TJPF_RGB
            }
        guard let encoder = tjInitCompress() else { throw ImageError(name, .notEncoded(.jpeg, "out of memory")) }
        defer { tjDestroy(encoder) }
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(bytes) }
        let result = image.bytes.withUnsafeBufferPointer {
            tjCompress2(
                encoder, $0.baseAddress, Int32(image.width), Int32(image.rowStride), Int32(image.height),
                Int32(format.rawValue), &bytes, &count,
                Int32((image.format == .gray ? TJSAMP_GRAY : TJSAMP_444).rawValue), Int32(min(max(quality, 1), 100)), 0)
        }
        guard result == 0, bytes != nil else {
            let message = tjGetErrorStr2(encoder).map { String(cString: $0) } ?? "unknown error"
            throw ImageError(name, .notEncoded(.jpeg, message))
        }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
}
