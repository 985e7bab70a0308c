/// A walk over the segments in front of a JPEG file's picture data.
struct JPEGSegments {
    /// From the EXIF segment, where there is one.
    private(set) var orientation = Orientation.up
    /// Offset of the three bytes at the end of the first scan's header (first and last coefficient, bit position), for
    /// sequential files.
    private(set) var spectralSelection: Int?

    /// Walks until the picture data starts or something makes no sense; the decoder complains about that.
    init(_ bytes: UnsafeRawBufferPointer) {
        let file = ByteReader(bytes)
        var isSequential = false
        var hasExif = false
        var offset = 2  // behind the start-of-image marker
        while file.uint8(at: offset) == 0xff, let marker = file.uint8(at: offset + 1) {
            switch marker {
            case 0xff:  // a fill byte
                offset += 1
                continue
            case 0x01, 0xd0...0xd8:  // markers without contents
                offset += 2
                continue
            case 0xd9:  // end of image
                return
            default: break
            }
            guard let length = file.uint16(at: offset + 2), length >= 2,
                let contents = file.slice(at: offset + 4, count: Int(length) - 2)
            else { return }
            switch marker {
            case 0xc0, 0xc1:  // baseline and extended sequential frames
                isSequential = true
            case 0xe1 where !hasExif && contents.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]):  // APP1, "Exif"
                hasExif = true
                orientation = Orientation(exif: contents)
            case 0xda:  // start of scan
                if isSequential, contents.count >= 6 { spectralSelection = offset + 2 + Int(length) - 3 }
                return
            default: break
            }
            offset += 2 + Int(length)
        }
    }
}
