/// How pictures are written.
public struct EncodingOptions: Hashable, Sendable {
    /// Quality of JPEG (1 to 100) and of lossy WebP (0 to 100).
    public var quality: Int
    /// Whether WebP is written without loss.
    public var losslessWebP: Bool

    /// Creates options; by default of quality 92.
    public init(quality: Int = 92, losslessWebP: Bool = false) {
        self.quality = quality
        self.losslessWebP = losslessWebP
    }
}

extension Image {
    /// The bytes of a file that holds the picture.
    ///
    /// PNG and WebP keep alpha; for JPEG it is put over white.
    ///
    /// - Parameter name: The file's name for messages.
    /// - Throws: `ImageError` for a picture that the format cannot hold, and for `.npy`, which holds scores and not
    /// pictures.
    public func encoded(
        as format: ImageFormat, options: EncodingOptions = EncodingOptions(), name: String = "picture"
    ) throws(ImageError) -> [UInt8] {
        switch format {
        case .png: try PNGEncoder.encode(self, name: name)
        case .jpeg: try JPEGEncoder.encode(self, quality: options.quality, name: name)
        case .webp: try WebPEncoder.encode(self, quality: options.quality, lossless: options.losslessWebP, name: name)
        case .npy: throw ImageError(name, .notEncoded(.npy, "it holds scores, not pictures"))
        }
    }

    /// Writes a file of the format that its name ends in: `.png`, `.jpg`, `.jpeg` or `.webp`.
    ///
    /// A file that is there already is replaced at once; where something fails nothing is left behind.
    ///
    /// - Throws: `ImageError` as `encoded(as:options:name:)`, or where the file cannot be written.
    public func write(to path: String, options: EncodingOptions = EncodingOptions()) throws(ImageError) {
        let format = try ImageFormat.forWriting(path: path)
        try OutputFile.write(try encoded(as: format, options: options, name: path), to: path)
    }

    /// The bytes of an indexed 8-bit PNG: this gray picture's bytes are class indices, shown in the palette's colours.
    ///
    /// - Parameter transparentIndices: Classes that are stored as fully transparent.
    /// - Throws: `ImageError` when an index has no colour.
    public func encodedAsIndexedPNG(
        palette: Palette, transparentIndices: Set<UInt8> = [], name: String = "mask"
    ) throws(ImageError) -> [UInt8] {
        precondition(format == .gray, "indices are one byte a pixel")
        return try PNGEncoder.encode(
            indices: self, palette: palette, transparentIndices: transparentIndices, name: name)
    }

    /// The largest byte of a gray picture.
    var largestIndex: Int? {
        withView { view in
            var largest: UInt8 = 0
            for y in 0..<height {
                let row = view.row(y)
                for x in 0..<width { largest = max(largest, row[x]) }
            }
            return Int(largest)
        }
    }
}
