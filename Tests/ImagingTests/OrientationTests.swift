import Imaging
import ImagingSupport
import Testing

@Suite("Orientation")
struct OrientationTests {
    /// What a picture of 3x2 pixels a b c / d e f has to become.
    @Test(
        "Every orientation puts every pixel in its place",
        arguments: [
            (Orientation.up, "abc def"), (.upMirrored, "cba fed"), (.down, "fed cba"), (.downMirrored, "def abc"),
            (.leftMirrored, "ad be cf"), (.right, "da eb fc"), (.rightMirrored, "fc eb da"), (.left, "cf be ad"),
        ])
    func pixels(orientation: Orientation, expected: String) throws {
        let rows = expected.split(separator: " ")
        for format in PixelFormat.allCases {
            let channels = format.channelCount
            let bytes = "abcdef".utf8.flatMap { letter in (0..<channels).map { letter &+ UInt8($0) } }
            let image = try Image(width: 3, height: 2, format: format, bytes: bytes).oriented(orientation)
            #expect(image.size == PixelSize(width: rows[0].count, height: rows.count))
            #expect(image.bytes == rows.joined().utf8.flatMap { letter in (0..<channels).map { letter &+ UInt8($0) } })
        }
    }

    @Test("Large and padded pictures turn as small ones do", arguments: Orientation.allCases)
    func tiles(orientation: Orientation) throws {
        let (width, height, stride) = (71, 39, 71 * 3 + 5)
        let image = try Image(
            width: width, height: height, format: .rgb, rowStride: stride,
            bytes: Fixtures.noise(stride * height, seed: 3))
        let turned = image.oriented(orientation)
        var wrong = 0
        for y in 0..<turned.height {
            for x in 0..<turned.width {
                let (column, row) = orientation.swapsSides ? (y, x) : (x, y)
                let flipsColumns = [.upMirrored, .down, .rightMirrored, .left].contains(orientation)
                let flipsRows = [.down, .downMirrored, .right, .rightMirrored].contains(orientation)
                let stored = image.pixel(
                    flipsColumns ? width - 1 - column : column, flipsRows ? height - 1 - row : row)
                if turned.pixel(x, y) != stored { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    /// A TIFF block with one entry in its first directory.
    private func block(
        bigEndian: Bool = false, tag: UInt16 = 0x0112, type: UInt16 = 3, count: UInt32 = 1, value: UInt16,
        directory: UInt32 = 8, entries: UInt16 = 1
    ) -> [UInt8] {
        func two(_ value: UInt16) -> [UInt8] {
            let bytes = [UInt8(value >> 8), UInt8(value & 255)]
            return bigEndian ? bytes : bytes.reversed()
        }
        func four(_ value: UInt32) -> [UInt8] {
            let (high, low) = (two(UInt16(value >> 16)), two(UInt16(value & 0xffff)))
            return bigEndian ? high + low : low + high
        }
        return Array((bigEndian ? "MM" : "II").utf8) + two(42) + four(directory) + two(entries) + two(tag) + two(type)
            + four(count) + two(value) + [0, 0] + four(0)
    }

    /// A JPEG file with an EXIF segment in front.
    private func orientation(of blocks: [UInt8]...) throws -> Orientation {
        let jpeg = try Fixtures.bytes("jpeg-baseline444.jpg")
        let segments = blocks.flatMap { block in
            let contents = Array("Exif\0\0".utf8) + block
            let length = contents.count + 2
            return [0xff, 0xe1, UInt8(length >> 8), UInt8(length & 255)] + contents
        }
        return try ImageFile.decode(Array(jpeg[..<2]) + segments + Array(jpeg[2...])).orientation
    }

    @Test("Of several EXIF segments the first one counts")
    func severalSegments() throws {
        #expect(try orientation(of: block(value: 6), block(value: 3)) == .right)
        #expect(try orientation(of: block(value: 1), block(value: 3)) == .up)
    }

    @Test("The tag is read in both byte orders")
    func tag() throws {
        for value in 1...8 {
            for bigEndian in [false, true] {
                #expect(try orientation(of: block(bigEndian: bigEndian, value: UInt16(value))).rawValue == value)
            }
        }
    }

    @Test("What makes no sense means upright")
    func nonsense() throws {
        #expect(try orientation(of: block(value: 0)) == .up)
        #expect(try orientation(of: block(value: 9)) == .up)
        #expect(try orientation(of: block(value: 0xffff)) == .up)
        #expect(try orientation(of: block(type: 2, value: 6)) == .up)
        #expect(try orientation(of: block(count: 2, value: 6)) == .up)
        #expect(try orientation(of: block(tag: 0x0113, value: 6)) == .up)
        #expect(try orientation(of: block(value: 6, directory: 0xffff_ffff)) == .up)
        #expect(try orientation(of: block(value: 6, directory: 20)) == .up)
        #expect(try orientation(of: block(tag: 0, value: 6, entries: 0xffff)) == .up)
        let whole = block(value: 6)
        for count in 0..<whole.count {
            let expected: Orientation = count >= 20 ? .right : .up  // the value ends at byte 20
            #expect(try orientation(of: Array(whole.prefix(count))) == expected, "\(count) bytes")
        }
    }

    @Test("A segment that claims more than the file has is refused")
    func lyingSegment() throws {
        let jpeg = try Fixtures.bytes("jpeg-baseline444.jpg")
        #expect(throws: ImageError.self) {
            try ImageFile.decode(Array(jpeg[..<2]) + [0xff, 0xe1, 0xff, 0xff] + Array(jpeg[2...]))
        }
    }
}
