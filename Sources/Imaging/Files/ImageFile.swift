/// A picture as it came out of a file.
public struct DecodedImage: Sendable {
    /// Upright, RGB or RGBA (straight alpha), without row padding.
    public var image: Image
    /// What the file held, by its content.
    public var format: ImageFormat
    /// How the picture was stored; `image` is upright already.
    public var orientation: Orientation
    /// What the user should know: `animated PNG: the first of 2 frames is used`.
    public var notices: [String]
}

/// Reads pictures: PNG, JPEG and WebP, told apart by content.
///
/// Gray is repeated into red, green and blue. 16 bits become 8 by dropping the low byte. Gamma and colour profiles
/// are ignored, as the networks were trained on pictures read that way. The EXIF orientation is applied. Of an
/// animation the first frame is read, with a notice. A damaged or truncated file is an error, never half a picture.
public enum ImageFile {
    /// Reads a picture file; `-` is standard input.
    public static func read(path: String, limits: ImageLimits = ImageLimits()) throws(ImageError) -> DecodedImage {
        try read(path: path, limits: limits) { _ in }
    }

    /// Reads a picture file whose claim passes a check.
    package static func read(
        path: String, limits: ImageLimits, checking check: PictureClaim.Check
    ) throws(ImageError) -> DecodedImage {
        let file = try InputFile(path: path, limit: limits.maxByteCount) { start, name throws(ImageError) in
            _ = try format(of: start, name: name, limits: limits)
        }
        return try file.withBytes { bytes throws(ImageError) in
            try decode(bytes, name: file.name, limits: limits, checking: check)
        }
    }

    /// Reads a picture from the bytes of a file.
    ///
    /// - Parameter name: The file's name for messages; it does not influence how the bytes are read.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer, name: String, limits: ImageLimits = ImageLimits()
    ) throws(ImageError) -> DecodedImage {
        try decode(bytes, name: name, limits: limits) { _ in }
    }

    /// Reads a picture whose claim passes a check.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer, name: String, limits: ImageLimits, checking check: PictureClaim.Check
    ) throws(ImageError) -> DecodedImage {
        var decoded: DecodedImage
        switch try format(of: bytes, name: name, limits: limits) {
        case .png: decoded = try PNGDecoder.decode(bytes, name: name, limits: limits, checking: check)
        case .jpeg: decoded = try JPEGDecoder.decode(bytes, name: name, limits: limits, checking: check)
        case .webp: decoded = try WebPDecoder.decode(bytes, name: name, limits: limits, checking: check)
        case .npy: throw ImageError(name, .unknownContent)
        }
        decoded.image = decoded.image.oriented(decoded.orientation)
        return decoded
    }

    /// Reads a label picture: class indices from the palette indices (or gray levels) of a PNG, never from its colours.
    ///
    /// - Returns: A gray picture whose bytes are the stored indices, not scaled.
    package static func readLabels(path: String, limits: ImageLimits = ImageLimits()) throws(ImageError) -> Image {
        let file = try InputFile(path: path, limit: limits.maxByteCount) { start, name throws(ImageError) in
            guard try format(of: start, name: name, limits: limits) == .png else {
                throw ImageError(name, .unsupported("a label picture other than PNG"))
            }
        }
        return try file.withBytes { bytes throws(ImageError) in
            try PNGDecoder.decodeIndices(bytes, name: file.name, limits: limits)
        }
    }

    private static func format(
        of bytes: UnsafeRawBufferPointer, name: String, limits: ImageLimits
    ) throws(ImageError) -> ImageFormat {
        guard !bytes.isEmpty else { throw ImageError(name, .emptyFile) }
        guard bytes.count <= limits.maxByteCount else {
            throw ImageError(name, .tooManyBytes(limit: limits.maxByteCount))
        }
        if let format = ImageFormat.sniff(bytes) { return format }
        if let other = foreignFormat(bytes) {
            throw ImageError(name, .unsupported("\(other) (convert it to PNG or JPEG)"))
        }
        throw ImageError(name, .unknownContent)
    }

    /// Names picture formats that people try and that are not read here.
    private static func foreignFormat(_ bytes: UnsafeRawBufferPointer) -> String? {
        if bytes.starts(with: "GIF8".utf8) { return "GIF" }
        if bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4d, 0x4d, 0, 42]) { return "TIFF or raw" }
        if bytes.starts(with: [0xff, 0x0a]) || bytes.starts(with: [0, 0, 0, 12, 0x4a, 0x58, 0x4c]) {
            return "JPEG XL"
        }
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        if bytes[8..<11].elementsEqual("avi".utf8) { return "AVIF" }
        let brand = bytes[8..<12]
        let isHEIF = ["heic", "heix", "heim", "mif1", "msf1"].contains { brand.elementsEqual($0.utf8) }
        return isHEIF ? "HEIC" : "video"
    }
}
