import Glibc

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

    /// The number of pictures that follow one another without a gap, as in a Motion JPEG stream; 1 for a usual file.
    ///
    /// Pictures that a camera appends to its photograph (a preview, a gain map) are announced in an MPF segment and
    /// belong to it: they do not count.
    static func pictureCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        let file = ByteReader(bytes)
        var count = 1
        var offset = 0
        while let end = endOfPicture(file, bytes, from: offset + 2) {
            guard file.uint8(at: end) == 0xff, file.uint8(at: end + 1) == 0xd8, file.uint8(at: end + 2) == 0xff
            else { break }
            count += 1
            offset = end
        }
        return count
    }

    /// The offset behind the end-of-image marker. Nil where there is none, or where an MPF segment is met.
    private static func endOfPicture(_ file: ByteReader, _ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var offset = start
        while offset < bytes.count {
            // In a scan every byte 0xff is followed by one that says what it means; in between there are none.
            guard let found = memchr(bytes.baseAddress! + offset, 0xff, bytes.count - offset) else { return nil }
            offset = UnsafeRawPointer(found) - bytes.baseAddress!
            guard let marker = file.uint8(at: offset + 1) else { return nil }
            switch marker {
            case 0xd9: return offset + 2
            case 0xff: offset += 1
            case 0x00, 0x01, 0xd0...0xd8: offset += 2
            default:
                guard let length = file.uint16(at: offset + 2), length >= 2 else { return nil }
                if marker == 0xe2, let contents = file.slice(at: offset + 4, count: 4),
                    contents.elementsEqual([0x4d, 0x50, 0x46, 0])
                {
                    return nil
                }
                offset += 2 + Int(length)
            }
        }
        return nil
    }
}
