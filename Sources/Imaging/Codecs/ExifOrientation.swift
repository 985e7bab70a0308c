extension Orientation {
    /// Reads the orientation from an EXIF block: a TIFF header and its first directory (`Exif\0\0` in front is
    /// skipped).
    ///
    /// Everything in the block is taken as hostile: whatever does not make sense gives `.up`, as does a value outside
    /// 1 ... 8.
    init(exif block: UnsafeRawBufferPointer) {
        self = Orientation.read(block) ?? .up
    }

    private static func read(_ block: UnsafeRawBufferPointer) -> Orientation? {
        var tiff = ByteReader(block)
        if block.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) {
            tiff = ByteReader(UnsafeRawBufferPointer(rebasing: block.dropFirst(6)))
        }
        switch tiff.uint16(at: 0, bigEndian: true) {
        case 0x4949: tiff.bigEndian = false
        case 0x4d4d: tiff.bigEndian = true
        default: return nil
        }
        guard tiff.uint16(at: 2) == 42, let directory = tiff.uint32(at: 4).map(Int.init),
            let count = tiff.uint16(at: directory)
        else { return nil }
        // An entry: tag, type, count, then the value itself where it fits into four bytes.
        for index in 0..<Int(count) {
            let entry = directory + 2 + 12 * index
            guard let tag = tiff.uint16(at: entry) else { return nil }
            guard tag == 0x0112 else { continue }
            guard tiff.uint32(at: entry + 4) == 1, let type = tiff.uint16(at: entry + 2) else { return nil }
            let value: Int? =
                switch type {
                case 1: tiff.uint8(at: entry + 8).map(Int.init)  // BYTE
                case 3: tiff.uint16(at: entry + 8).map(Int.init)  // SHORT, as the standard wants
                case 4: tiff.uint32(at: entry + 8).map(Int.init)  // LONG
                default: nil
                }
            return value.flatMap(Orientation.init(rawValue:))
        }
        return nil
    }
}
