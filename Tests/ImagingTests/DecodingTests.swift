import Glibc
import Imaging
import ImagingSupport
import TestSupport
import Testing

@Suite("Decoding")
struct DecodingTests {
    @Test("Lossless files decode to the pixels that went into them", arguments: try Fixtures.rows("decode.tsv"))
    func lossless(row: [String]) throws {
        let decoded = try Fixtures.decoded(row[0])
        let image = decoded.image
        #expect(decoded.notices.isEmpty != row[0].contains("animated"))
        #expect("\(image.size) \(image.format.channelCount)" == "\(row[1])x\(row[2]) \(row[3])")
        #expect(hex(crc32(image.bytes)) == row[4], "\(row[0])")
    }

    @Test(
        "JPEG decodes as Pillow decodes it",
        arguments: [
            "baseline444", "baseline420", "baseline422", "progressive", "odd", "gray", "restart", "cmyk",
        ])
    func jpeg(name: String) throws {
        let decoded = try Fixtures.decoded("jpeg-\(name).jpg")
        #expect(decoded.format == .jpeg)
        #expect(decoded.notices.isEmpty)
        let expected = try Fixtures.decoded("jpeg-\(name).png").image
        #expect(decoded.image.largestDifference(from: expected) == 0)
    }

    @Test("A JPEG whose scan header is sloppy decodes, with a notice; other warnings are errors")
    func sloppyHeader() throws {
        var bytes = try Fixtures.bytes("jpeg-baseline444.jpg")
        let scan = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xff, 0xda, 0, 12, 3]) })
        #expect(bytes[scan + 12] == 63)  // the last coefficient of the spectrum, which some cameras leave at 0
        bytes[scan + 12] = 0
        let decoded = try ImageFile.decode(bytes)
        #expect(decoded.notices == ["JPEG: wrong numbers in the scan's header, ignored"])
        #expect(decoded.image == (try Fixtures.decoded("jpeg-baseline444.jpg").image))
        // The same file cut short: the harmless warning must not hide the other one.
        #expect(throws: ImageError("x", .truncated(.jpeg))) {
            try ImageFile.decode(Array(bytes.prefix(bytes.count - 100)), name: "x")
        }
    }

    @Test("WebP decodes as Pillow decodes it", arguments: ["lossy", "lossy-alpha", "lossless", "lossless-alpha"])
    func webp(name: String) throws {
        let decoded = try Fixtures.decoded("webp-\(name).webp")
        #expect(decoded.format == .webp)
        let expected = try Fixtures.decoded("webp-\(name).png").image
        #expect(decoded.image.largestDifference(from: expected) == 0)
    }

    @Test("Of an animation the first frame is read, with a notice")
    func animations() throws {
        #expect(
            try Fixtures.decoded("png-animated.png").notices == ["animated PNG: the first of 2 frames is used"])
        #expect(
            try Fixtures.decoded("webp-animated.webp").notices == ["animated WebP: the first of 2 frames is used"])
    }

    @Test("Of a Motion JPEG stream the first picture is read, with a notice; a camera's extra pictures need none")
    func jpegStream() throws {
        let first = try Fixtures.bytes("jpeg-progressive.jpg")
        let second = try Fixtures.bytes("jpeg-baseline420.jpg")
        let stream = try ImageFile.decode(first + second + second.prefix(300))
        #expect(stream.notices == ["Motion JPEG: the first of 3 pictures is used"])
        #expect(stream.image == (try Fixtures.decoded("jpeg-progressive.jpg").image))
        // An MPF segment says that the pictures behind belong to this one; trailers of other kinds are none.
        let announced = first[..<2] + [0xff, 0xe2, 0, 6, 0x4d, 0x50, 0x46, 0] + first[2...]
        #expect(try ImageFile.decode(announced + second).notices.isEmpty)
        #expect(try ImageFile.decode(first + [0, 1, 2] + second).notices.isEmpty)
    }

    @Test("What is no picture is refused by its first bytes, however long it is", .childProcess)
    func endless() {
        #expect(throws: ImageError("/dev/zero", .unknownContent)) { try ImageFile.read(path: "/dev/zero") }
        #expect(throws: ImageError("/dev/null", .emptyFile)) { try ImageFile.read(path: "/dev/null") }
    }

    @Test("A label picture gives its indices, not its colours")
    func labels() throws {
        let labels = try ImageFile.readLabels(path: Fixtures.path("png-labels.png"))
        #expect(labels.format == .gray)
        #expect(labels.bytes == Array(0...255))
        // Low bit depths are not stretched.
        let low = try ImageFile.readLabels(path: Fixtures.path("png-gray2.png"))
        #expect(Set(low.bytes) == [0, 1, 2, 3])
        #expect(throws: ImageError.self) { try ImageFile.readLabels(path: Fixtures.path("png-rgb8.png")) }
        #expect(throws: ImageError.self) { try ImageFile.readLabels(path: Fixtures.path("jpeg-gray.jpg")) }
    }

    @Test("Other formats are refused by name")
    func foreignFormats() {
        let cases: [([UInt8], String)] = [
            (Array("GIF89a".utf8), "GIF"), ([0x49, 0x49, 42, 0], "TIFF"),
            ([0, 0, 0, 24] + Array("ftypheic".utf8), "HEIC"), ([0, 0, 0, 24] + Array("ftypavif".utf8), "AVIF"),
            ([0, 0, 0, 24] + Array("ftypisom".utf8), "video"), (Array("hello".utf8), "not a picture"),
            ([], "empty"), ([0x89], "not a picture"),
        ]
        for (bytes, expected) in cases {
            do {
                _ = try ImageFile.decode(bytes, name: "x")
                Issue.record("\(expected) was decoded")
            } catch {
                #expect(error.description.contains(expected))
            }
        }
    }
}

@Suite("Limits", .childProcess)
struct LimitTests {
    /// A PNG header that claims a size, and nothing behind it.
    private func header(_ width: UInt32, _ height: UInt32) throws -> [UInt8] {
        var bytes = Array(try Fixtures.bytes("png-rgb8.png").prefix(33))
        for index in 0..<4 {
            bytes[16 + index] = UInt8(truncatingIfNeeded: width >> UInt32(24 - 8 * index))
            bytes[20 + index] = UInt8(truncatingIfNeeded: height >> UInt32(24 - 8 * index))
        }
        return bytes
    }

    @Test("A header that claims too much is refused before anything else is read")
    func header() throws {
        #expect(throws: ImageError("x", .tooManyPixels(width: 20_000, height: 20_000, limit: 100_000_000))) {
            try ImageFile.decode(header(20_000, 20_000), name: "x")
        }
        #expect(throws: ImageError("x", .tooManyPixels(width: 0xffff_ffff, height: 0xffff_ffff, limit: 100_000_000))) {
            try ImageFile.decode(header(.max, .max), name: "x")
        }
        #expect(throws: ImageError("x", .sideTooLong(width: 100_000, height: 1, limit: 65_535))) {
            try ImageFile.decode(header(100_000, 1), name: "x")
        }
        #expect(throws: ImageError("x", .emptyPicture(width: 0, height: 7))) {
            try ImageFile.decode(header(0, 7), name: "x")
        }
    }

    @Test("The message gives the claimed size and the limit")
    func message() throws {
        let error = #expect(throws: ImageError.self) { try ImageFile.decode(header(20_000, 20_000), name: "big.png") }
        #expect(
            error?.description
                == "big.png: claims 20000x20000, 400.0 million pixels; the limit is 100.0 million (it can be raised)")
    }

    @Test(
        "The limit is a limit of every format", arguments: ["jpeg-baseline420.jpg", "webp-lossy.webp", "png-rgb8.png"])
    func everyFormat(name: String) throws {
        let pixels = try Fixtures.decoded(name).image.size.pixelCount
        _ = try ImageFile.read(path: Fixtures.path(name), limits: ImageLimits(maxPixels: pixels))
        let error = #expect(throws: ImageError.self) {
            try ImageFile.read(path: Fixtures.path(name), limits: ImageLimits(maxPixels: pixels - 1))
        }
        guard case .tooManyPixels(_, _, pixels - 1) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A file longer than the limit is not read to its end")
    func fileLength() throws {
        let path = Fixtures.path("png-rgb8.png")
        let error = ImageError(path, .tooManyBytes(limit: 100))
        #expect(throws: error) { try ImageFile.read(path: path, limits: ImageLimits(maxByteCount: 100)) }
        // A pipe that stays open: whoever read on would wait for ever.
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        let start: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]
        let bytes = start + [UInt8](repeating: 0, count: 50_001 - start.count)
        try #require(write(ends[1], bytes, bytes.count) == bytes.count)
        let name = "/dev/fd/\(ends[0])"
        #expect(throws: ImageError(name, .tooManyBytes(limit: 50_000))) {
            try ImageFile.read(path: name, limits: ImageLimits(maxByteCount: 50_000))
        }
    }
}
