/// What is needed of a PNG file's chunks before libpng sees it.
///
/// The walk reads lengths and names only and checks no checksums; libpng does that.
struct PNGChunks {
    /// As the header claims.
    private(set) var size: PixelSize
    /// Frames of an animation, 1 for a still picture.
    private(set) var frameCount = 1
    private(set) var orientation = Orientation.up

    /// Walks over the chunks of a file with a PNG signature; nil when it does not start with a whole header.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let file = ByteReader(bytes)
        guard file.uint32(at: 8) == 13, file.uint32(at: 12) == 0x4948_4452,  // IHDR
            let width = file.uint32(at: 16), let height = file.uint32(at: 20), file.uint32(at: 29) != nil
        else { return nil }
        size = PixelSize(width: Int(width), height: Int(height))

        // A chunk: length, name, contents, checksum.
        var offset = 33
        while let length = file.uint32(at: offset), let name = file.uint32(at: offset + 4),
            let contents = file.slice(at: offset + 8, count: Int(length))
        {
            switch name {
            case 0x6163_544c:  // acTL, animation control
                frameCount = max(1, ByteReader(contents).uint32(at: 0).map(Int.init) ?? 1)
            case 0x6558_4966:  // eXIf
                orientation = Orientation(exif: contents)
            case 0x4945_4e44:  // IEND
                return
            default: break
            }
            offset += 12 + Int(length)
        }
    }
}
