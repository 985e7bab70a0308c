/// A file format: what a file holds by its first bytes, or shall hold by its name.
public enum ImageFormat: String, CaseIterable, Hashable, Sendable {
    /// Portable Network Graphics: lossless, read and written.
    case png
    /// JPEG: lossy, without alpha, read and written.
    case jpeg = "jpg"
    /// WebP: lossy or lossless with alpha, read and written.
    case webp
    /// NumPy's array file: float32 scores, written only.
    case npy

    /// The name people know it by.
    package var title: String {
        switch self {
        case .png: "PNG"
        case .jpeg: "JPEG"
        case .webp: "WebP"
        case .npy: "NPY"
        }
    }

    /// Whether it stores opacity.
    public var hasAlpha: Bool { self == .png || self == .webp }

    /// The longest side that the format can hold.
    package var maxSide: Int {
        switch self {
        case .png, .npy: 0x7fff_ffff
        case .jpeg: 65_500  // libjpeg's JPEG_MAX_DIMENSION
        case .webp: 16_383  // 14 bits
        }
    }

    /// The format that a file name's extension asks for, in any letter case; nil where there is none or it is unknown.
    public init?(path: String) {
        switch ImageFormat.fileExtension(of: path).lowercased() {
        case "png": self = .png
        case "jpg", "jpeg", "jpe": self = .jpeg
        case "webp": self = .webp
        case "npy": self = .npy
        default: return nil
        }
    }

    /// The format that a file name's extension asks for.
    ///
    /// - Throws: `ImageError` that lists the known extensions.
    package static func forWriting(path: String) throws(ImageError) -> ImageFormat {
        guard let format = ImageFormat(path: path) else {
            let found = fileExtension(of: path)
            throw ImageError(path, .unknownExtension(found.isEmpty ? "" : "." + found))
        }
        return format
    }

    /// What the bytes are, by their signature and never by a name; nil for anything that is not read here.
    package static func sniff(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return .png }
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return .jpeg }
        if bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8) {
            return .webp
        }
        return nil
    }

    /// What follows the last dot of the last path component; empty without one.
    private static func fileExtension(of path: String) -> Substring {
        let file = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return "" }
        return file[file.index(after: dot)...]
    }
}
