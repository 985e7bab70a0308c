/// What is needed of a JPEG file's segments before TurboJPEG sees it.
struct JPEGSegments {
    /// From the EXIF segment, where there is one.
    private(set) var orientation = Orientation.up
    /// Whether the picture comes in several scans that refine it.
    private(set) var isProgressive = false
    /// Offset of the three bytes at the end of the first scan's header (first and last coefficient, bit position), for
    /// sequential files.
    private(set) var spectralSelection: Int?

    /// Walks until the picture data starts or something makes no sense; the decoder complains about that.
    init(_ bytes: UnsafeRawBufferPointer) {
        var markers = JPEGMarkers(bytes, from: 2)  // behind the start-of-image marker
        var isSequential = false
        var hasExif = false
        while let marker = markers.next() {
            switch marker.code {
            case 0xc0, 0xc1:  // baseline and extended sequential frames
                isSequential = true
            case 0xc2: isProgressive = true
            case 0xe1 where !hasExif && marker.contents.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]):  // APP1, "Exif"
                hasExif = true
                orientation = Orientation(exif: marker.contents)
            case 0xda:  // start of scan
                if isSequential, marker.contents.count >= 6 { spectralSelection = marker.end - 3 }
                return
            case 0xd9:  // end of image
                return
            default: break
            }
        }
    }

    /// The number of pictures that follow one another without a gap, as in a Motion JPEG stream; 1 for a usual file.
    ///
    /// Pictures that a camera appends to its photograph (a preview, a gain map) are announced in an MPF segment and
    /// belong to it: they do not count.
    static func pictureCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = 1
        var offset = 0
        while let end = endOfPicture(bytes, from: offset + 2), bytes[end...].starts(with: [0xff, 0xd8, 0xff]) {
            count += 1
            offset = end
        }
        return count
    }

    /// The offset behind the end-of-image marker. Nil where there is none, or where an MPF segment is met.
    private static func endOfPicture(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var markers = JPEGMarkers(bytes, from: start)
        while let marker = markers.next(skippingData: true) {
            if marker.code == 0xd9 { return marker.end }
            if marker.code == 0xe2, marker.contents.starts(with: [0x4d, 0x50, 0x46, 0]) { return nil }  // APP2, "MPF"
        }
        return nil
    }
}
