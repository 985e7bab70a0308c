extension Orientation {
    /// Looks for an EXIF segment in front of a JPEG file's picture data.
    init(jpeg bytes: UnsafeRawBufferPointer) {
        let file = ByteReader(bytes)
        var offset = 2  // behind the start-of-image marker
        while let prefix = file.uint8(at: offset), prefix == 0xff, let marker = file.uint8(at: offset + 1) {
            switch marker {
            case 0xff:  // a fill byte
                offset += 1
                continue
            case 0x01, 0xd0...0xd8:  // markers without contents
                offset += 2
                continue
            case 0xd9, 0xda:  // end of image, start of scan
                self = .up
                return
            default: break
            }
            guard let length = file.uint16(at: offset + 2), length >= 2,
                let contents = file.slice(at: offset + 4, count: Int(length) - 2)
            else { break }
            if marker == 0xe1, contents.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) {  // APP1, Exif
                self = Orientation(exif: contents)
                return
            }
            offset += 2 + Int(length)
        }
        self = .up
    }
}
