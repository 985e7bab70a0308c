import Imaging
import ImagingSupport
import TestSupport
import Testing

@Suite("Resizing")
struct ResizingTests {
    @Test("Every shape comes out as Pillow's BILINEAR, byte for byte", arguments: try Fixtures.rows("resize.tsv"))
    func pillow(row: [String]) throws {
        let numbers = row.dropLast().map { Int($0)! }
        let (width, height, channels) = (numbers[0], numbers[1], numbers[2])
        var bytes = Fixtures.noise(width * height * channels, seed: UInt32(numbers[5]))
        if numbers[6] == 1 { bytes = bytes.map { $0 < 128 ? 0 : 255 } }
        let formats: [PixelFormat] = channels == 1 ? [.gray] : channels == 3 ? [.rgb, .bgr] : [.rgba, .bgra]
        for format in formats {
            let image = try Image(width: width, height: height, format: format, bytes: bytes)
            let resized = image.resized(width: numbers[3], height: numbers[4])
            #expect(resized.format == format)
            #expect(hex(crc32(resized.bytes)) == row[7], "\(row.joined(separator: " ")) \(format)")
        }
    }

    @Test("White stays white however many pixels are taken together")
    func extremes() {
        for size in [PixelSize(width: 60_000, height: 1), PixelSize(width: 1, height: 60_000)] {
            let image = Image(size: size, format: .rgb, color: .white).resized(width: 1, height: 1)
            #expect(image.bytes == [255, 255, 255])
        }
    }

    @Test("A resizer gives the same bytes again and again, from any layout and with row padding")
    func layouts() throws {
        let rgb = try Fixtures.noise(50, 37, .rgb)
        let resizer = Resizer(from: rgb.size, to: PixelSize(width: 23, height: 61))
        func resized(_ image: Image) -> [UInt8] {
            var result = [UInt8](repeating: 7, count: 23 * 61 * 3)
            image.withView { view in result.withUnsafeMutableBufferPointer { resizer.resize(view, into: $0) } }
            return result
        }
        let expected = rgb.resized(width: 23, height: 61).bytes
        for format in [PixelFormat.rgb, .bgr, .rgba, .bgra] {
            #expect(resized(rgb.converted(to: format)) == expected, "\(format)")
        }
        var padded: [UInt8] = []
        for y in 0..<37 { padded += rgb.bytes[y * 150..<(y + 1) * 150] + [9, 9, 9] }
        #expect(resized(try Image(width: 50, height: 37, format: .rgb, rowStride: 153, bytes: padded)) == expected)
    }

    @Test("Transparency is put over the background before anything is averaged")
    func flattening() throws {
        let picture = try Fixtures.noise(40, 30, .rgba)
        let background = RGBColor(red: 10, green: 200, blue: 90)
        let expected = picture.flattened(over: background).resized(width: 17, height: 19)
        let resizer = Resizer(from: picture.size, to: expected.size)
        var result = [UInt8](repeating: 0, count: expected.bytes.count)
        picture.withView { view in
            result.withUnsafeMutableBufferPointer { resizer.resize(view, over: background, into: $0) }
        }
        #expect(result == expected.bytes)
    }

    @Test("Gray is made before anything is averaged, as Pillow's convert then resize")
    func gray() throws {
        let picture = try Fixtures.noise(40, 30, .rgb)
        let expected = picture.converted(to: .gray).resized(width: 17, height: 19)
        let resizer = Resizer(from: picture.size, to: expected.size, format: .gray)
        var result = [UInt8](repeating: 0, count: expected.bytes.count)
        picture.withView { view in result.withUnsafeMutableBufferPointer { resizer.resize(view, into: $0) } }
        #expect(result == expected.bytes)
    }

    private static let goldenNames = [
        "astronaut.png", "camera.png", "chelsea.png", "coco_000000000139.jpg", "coco_000000005037.jpg",
        "coco_000000011122.jpg", "rocket.jpg",
    ]

    @Test(
        "Photographs come out as the networks' reference inputs, byte for byte",
        .needs(shared: "images", "golden/deeplabv3-257", "golden/deeplabv3-513-apple", "golden/selfie"),
        arguments: goldenNames, [("deeplabv3-257", 257), ("deeplabv3-513-apple", 513), ("selfie", 256)])
    func golden(name: String, network: (folder: String, side: Int)) throws {
        let picture = try ImageFile.read(path: SharedFiles.path("images/\(name)")).image
        let reference = SharedFiles.path("golden/\(network.folder)/\(name.prefix { $0 != "." }).input.png")
        let expected = try ImageFile.read(path: reference).image
        let preprocessor = Preprocessor(
            picture: picture.size, network: PixelSize(width: network.side, height: network.side))
        let input = preprocessor.prepare(picture)
        #expect(input.largestDifference(from: expected) == 0, "\(name) \(network)")
    }
}
