import CWebP

/// WebP through libwebp: lossy at a quality, or lossless; alpha is lossless always.
enum WebPEncoder {
    static func encode(_ image: Image, quality: Int, lossless: Bool, name: String) throws(ImageError) -> [UInt8] {
        let limit = ImageFormat.webp.maxSide
        guard image.width <= limit, image.height <= limit else {
            throw ImageError(name, .sideTooLong(width: image.width, height: image.height, limit: limit))
        }
        let image = image.format == .gray ? image.converted(to: .rgb) : image
        let (width, height, stride) = (Int32(image.width), Int32(image.height), Int32(image.rowStride))
        let quality = Float(min(max(quality, 0), 100))
        var bytes: UnsafeMutablePointer<UInt8>?
        defer { WebPFree(bytes) }
        let count = image.bytes.withUnsafeBufferPointer { buffer in
            let pixels = buffer.baseAddress
            return switch (image.format, lossless) {
            case (.gray, _), (.rgb, false): WebPEncodeRGB(pixels, width, height, stride, quality, &bytes)
            case (.bgr, false): WebPEncodeBGR(pixels, width, height, stride, quality, &bytes)
            case (.rgba, false): WebPEncodeRGBA(pixels, width, height, stride, quality, &bytes)
            case (.bgra, false): WebPEncodeBGRA(pixels, width, height, stride, quality, &bytes)
            case (.rgb, true): WebPEncodeLosslessRGB(pixels, width, height, stride, &bytes)
            case (.bgr, true): WebPEncodeLosslessBGR(pixels, width, height, stride, &bytes)
            case (.rgba, true): WebPEncodeLosslessRGBA(pixels, width, height, stride, &bytes)
            case (.bgra, true): WebPEncodeLosslessBGRA(pixels, width, height, stride, &bytes)
            }
        }
        guard count > 0, bytes != nil else {
            throw ImageError(name, .notEncoded(.webp, "libwebp could not (out of memory?)"))
        }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }
}
