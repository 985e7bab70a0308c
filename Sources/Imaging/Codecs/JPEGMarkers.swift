import Glibc

/// A walk over the markers of a JPEG file.
///
/// Source: ITU-T T.81, B.1.1.
struct JPEGMarkers {
    struct Marker {
        /// The byte behind 0xff.
        let code: UInt8
        /// What the segment holds behind its length; empty for a marker that stands alone.
        let contents: UnsafeRawBufferPointer
        /// Offset of what follows.
        let end: Int
    }

    private let file: ByteReader
    private var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, from offset: Int) {
        file = ByteReader(bytes)
        self.offset = offset
    }

    /// The next marker. Nil where there is none, or its segment is not whole.
    ///
    /// - Parameter skippingData: Whether entropy-coded data may lie before it.
    mutating func next(skippingData: Bool = false) -> Marker? {
        while true {
            if skippingData {
                guard let found = firstMarkerByte() else { return nil }
                offset = found
            }
            guard file.uint8(at: offset) == 0xff, let code = file.uint8(at: offset + 1) else { return nil }
            switch code {
            case 0xff:  // a fill byte
                offset += 1
            case 0x00 where skippingData:  // 0xff as data
                offset += 2
            case 0x01, 0xd0...0xd9:
                offset += 2
                return Marker(code: code, contents: UnsafeRawBufferPointer(start: nil, count: 0), end: offset)
            default:
                guard let length = file.uint16(at: offset + 2), length >= 2,
                    let contents = file.slice(at: offset + 4, count: Int(length) - 2)
                else { return nil }
                offset += 2 + Int(length)
                return Marker(code: code, contents: contents, end: offset)
            }
        }
    }

    /// The next byte that every marker begins with, and in data nothing else but a byte that is escaped.
    private func firstMarkerByte() -> Int? {
        guard offset < file.bytes.count, let base = file.bytes.baseAddress,
            let found = memchr(base + offset, 0xff, file.bytes.count - offset)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }
}
