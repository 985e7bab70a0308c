import CWebP

/// WebP through libwebp: lossy and lossless, alpha, the first frame of an animation.
enum WebPDecoder {
    static func decode(
        _ bytes: UnsafeRawBufferPointer, name: String, limits: ImageLimits, checking admit: PictureClaim.Check
    ) throws(ImageError) -> DecodedImage {
        // The container says how long it is, which tells a cut file from a damaged one.
        let claimed = ByteReader(bytes).uint32(at: 4, bigEndian: false).map(Int.init) ?? 0
        guard claimed <= bytes.count - 8 else { throw ImageError(name, .truncated(.webp)) }

        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        var features = WebPBitstreamFeatures()
        try check(WebPGetFeatures(start, bytes.count, &features), name)
        let size = PixelSize(width: Int(features.width), height: Int(features.height))
        try limits.check(size, name: name)

        var data = WebPData(bytes: start, size: bytes.count)
        let isAnimated = features.has_animation != 0
        var claim = PictureClaim(
            size: size, channelCount: isAnimated || features.has_alpha != 0 ? 4 : 3, fileByteCount: bytes.count)
        // Two canvases of an animation; the words of a lossless picture, or the plane of alpha beside a lossy one.
        claim.workingByteCount = (isAnimated ? 12 : features.format == 2 ? 4 : 1) * size.pixelCount
        claim.addTurning(orientation(&data))
        try admit(claim)
        if isAnimated { return try firstFrame(&data, size, name) }

        let format: PixelFormat = features.has_alpha != 0 ? .rgba : .rgb
        let image = try Image(size, format) { buffer throws(ImageError) in
            var config = WebPDecoderConfig()
            guard WebPInitDecoderConfig(&config) != 0 else {
                throw ImageError(name, .damaged(.webp, "libwebp of another version"))
            }
            config.output.colorspace = format == .rgba ? MODE_RGBA : MODE_RGB
            config.output.is_external_memory = 1
            config.output.u.RGBA = WebPRGBABuffer(
                rgba: buffer.baseAddress, stride: Int32(size.width * format.channelCount), size: buffer.count)
            try check(WebPDecode(start, bytes.count, &config), name)
        }
        return DecodedImage(image: image, format: .webp, orientation: orientation(&data), notices: [])
    }

    private static func firstFrame(
        _ data: inout WebPData, _ size: PixelSize, _ name: String
    ) throws(ImageError) -> DecodedImage {
        var options = WebPAnimDecoderOptions()
        _ = WebPAnimDecoderOptionsInit(&options)
        options.color_mode = MODE_RGBA
        guard let decoder = WebPAnimDecoderNew(&data, &options) else {
            throw ImageError(name, .damaged(.webp, "the animation cannot be read"))
        }
        defer { WebPAnimDecoderDelete(decoder) }
        var info = WebPAnimInfo()
        var canvas: UnsafeMutablePointer<UInt8>?
        var timestamp: Int32 = 0
        guard WebPAnimDecoderGetInfo(decoder, &info) != 0, Int(info.canvas_width) == size.width,
            Int(info.canvas_height) == size.height, WebPAnimDecoderGetNext(decoder, &canvas, &timestamp) != 0,
            let canvas
        else { throw ImageError(name, .damaged(.webp, "the first frame cannot be read")) }
        let image = Image(size, .rgba) { buffer in
            _ = buffer.update(from: UnsafeBufferPointer(start: canvas, count: buffer.count))
        }
        let notices =
            info.frame_count > 1 ? ["animated WebP: the first of \(info.frame_count) frames is used"] : []
        return DecodedImage(image: image, format: .webp, orientation: orientation(&data), notices: notices)
    }

    /// From the container's EXIF chunk, where there is one.
    static func orientation(_ data: inout WebPData) -> Orientation {
        guard let container = WebPDemux(&data) else { return .up }
        defer { WebPDemuxDelete(container) }
        var chunk = WebPChunkIterator()
        guard WebPDemuxGetChunk(container, "EXIF", 1, &chunk) != 0 else { return .up }
        defer { WebPDemuxReleaseChunkIterator(&chunk) }
        return Orientation(exif: UnsafeRawBufferPointer(start: chunk.chunk.bytes, count: chunk.chunk.size))
    }

    private static func check(_ status: VP8StatusCode, _ name: String) throws(ImageError) {
        switch status {
        case VP8_STATUS_OK: return
        case VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_SUSPENDED: throw ImageError(name, .truncated(.webp))
        case VP8_STATUS_OUT_OF_MEMORY: throw ImageError(name, .damaged(.webp, "no memory to read it"))
        case VP8_STATUS_UNSUPPORTED_FEATURE: throw ImageError(name, .unsupported("this kind of WebP"))
        default: throw ImageError(name, .damaged(.webp, "the picture data breaks the format's rules"))
        }
    }
}
