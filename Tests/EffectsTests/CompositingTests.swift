import Effects
import Imaging
import ImagingSupport
import Testing

@Suite("Palette")
struct PaletteTests {
    @Test("The VOC map has its published colours")
    func voc() {
        let palette = Palette.voc(count: 256)
        let expected: [(Int, String)] = [
            (0, "#000000"), (1, "#800000"), (2, "#008000"), (3, "#808000"), (7, "#808080"), (8, "#400000"),
            (15, "#c08080"), (20, "#004080"), (21, "#804080"), (64, "#200000"), (255, "#e0e0c0"),
        ]
        for (index, color) in expected { #expect(palette[index].description == color) }
        #expect(Set(palette.colors).count == 256)
        #expect(Palette.voc(count: 300).colors.count == 300)
        #expect(Palette([.white])[3].description == "#808000")
    }

    @Test("Colours are read from hexadecimal digits")
    func hex() {
        #expect(RGBColor(hex: "#ff8001") == RGBColor(red: 255, green: 128, blue: 1))
        #expect(RGBColor(hex: "00FF00")?.description == "#00ff00")
        for text in ["", "#fff", "#ff80011", "#gg0000", "+12345"] { #expect(RGBColor(hex: text) == nil) }
    }
}

@Suite("Compositing")
struct CompositingTests {
    /// Half up, in arithmetic that has no trick in it.
    private func mixed(_ top: UInt8, _ bottom: UInt8, _ alpha: UInt8) -> UInt8 {
        let (above, below, weight) = (Int(top), Int(bottom), Int(alpha))
        let sum: Int = above * weight + below * (255 - weight)
        return UInt8((sum + 127) / 255)
    }

    @Test("Flattening rounds to the nearest for every colour and alpha")
    func flattening() throws {
        var bytes: [UInt8] = []
        for color in 0..<256 { for alpha in 0..<256 { bytes += [UInt8(color), 0, 255, UInt8(alpha)] } }
        let image = try Image(width: 256, height: 256, format: .rgba, bytes: bytes)
        let flat = image.flattened(over: RGBColor(red: 77, green: 255, blue: 0))
        var wrong = 0
        for index in 0..<65536 {
            let (color, alpha) = (bytes[4 * index], bytes[4 * index + 3])
            let expected: [UInt8] = [mixed(color, 77, alpha), mixed(0, 255, alpha), mixed(255, 0, alpha)]
            let pixel = flat.bytes.dropFirst(3 * index).prefix(3)
            if !pixel.elementsEqual(expected) { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test("An overlay mixes class colours and leaves the background alone")
    func overlay() throws {
        let picture = try Fixtures.noise(8, 4, .rgb)
        let categories = (0..<32).map { UInt8($0 % 3 == 0 ? 0 : $0) }
        let palette = Palette.voc(count: 21)
        for opacity in [Float(0), 0.5, 1] {
            let alpha = UInt8((opacity * 255).rounded())
            let result = categories.withUnsafeBufferPointer {
                Compositing.overlay(picture, categories: $0, palette: palette, opacity: opacity)
            }
            for (index, category) in categories.enumerated() {
                let before = picture.pixel(index % 8, index / 8)
                let color = palette[Int(category)]
                let expected =
                    category == 0
                    ? before : zip([color.red, color.green, color.blue], before).map { mixed($0, $1, alpha) }
                #expect(result.pixel(index % 8, index / 8) == expected)
            }
        }
    }

    @Test("A cut-out has the picture's colours, the mask's alpha, and nothing under alpha 0")
    func cutout() throws {
        let picture = try Fixtures.noise(3, 1, .bgr)
        let mask: [UInt8] = [255, 100, 0]
        let result = mask.withUnsafeBufferPointer { Compositing.cutout(picture, alpha: $0) }
        #expect(result.format == .rgba)
        let straight = picture.converted(to: .rgb)
        #expect(result.pixel(0, 0) == straight.pixel(0, 0) + [255])
        #expect(result.pixel(1, 0) == straight.pixel(1, 0) + [100])
        #expect(result.pixel(2, 0) == [0, 0, 0, 0])
    }

    @Test("A hole in the picture stays a hole in the cut-out")
    func hole() throws {
        let picture = try Image(width: 2, height: 1, format: .rgba, bytes: [255, 0, 255, 0, 10, 20, 30, 128])
        let mask: [UInt8] = [255, 200]
        let result = mask.withUnsafeBufferPointer { Compositing.cutout(picture, alpha: $0) }
        #expect(result.pixel(0, 0) == [0, 0, 0, 0])
        #expect(result.pixel(1, 0) == [10, 20, 30, 100])
    }

    @Test("Confidences are rounded half up and clamped")
    func confidences() {
        let values: [Float] = [0, 1, 0.5, 0.001, 0.003, -1, 2, .nan, .infinity]
        let plane = values.withUnsafeBufferPointer {
            Compositing.grayPlane($0, size: PixelSize(width: 9, height: 1))
        }
        #expect(plane.bytes == [0, 255, 128, 0, 1, 0, 255, 0, 255])
    }
}

@Suite("Images")
struct ImageTests {
    @Test("Sizes that contradict one another are refused")
    func checked() {
        for (width, height, stride, count) in [
            (0, 1, nil, 100), (1, -1, nil, 100), (10, 10, nil, 299), (10, 10, 29, 1000), (10, 2, 40, 69),
            (10, 1, 1 << 40, 1000), (Int.max, 2, nil, 100), (2, Int.max, Int.max, 100),
        ] as [(Int, Int, Int?, Int)] {
            #expect(throws: ImageError.self, "\(width)x\(height) stride \(String(describing: stride)), \(count) bytes")
            {
                try Image(
                    width: width, height: height, format: .rgb, rowStride: stride,
                    bytes: [UInt8](repeating: 0, count: count))
            }
        }
        #expect(throws: Never.self) {
            try Image(width: 10, height: 2, format: .rgb, rowStride: 40, bytes: [UInt8](repeating: 0, count: 70))
        }
    }

    @Test("Layouts convert into one another")
    func converted() throws {
        let rgba = try Image(width: 1, height: 1, format: .rgba, bytes: [200, 100, 50, 255])
        #expect(rgba.converted(to: .bgra).bytes == [50, 100, 200, 255])
        #expect(rgba.converted(to: .bgr).bytes == [50, 100, 200])
        #expect(rgba.converted(to: .gray).bytes == [124])  // 0.299 * 200 + 0.587 * 100 + 0.114 * 50 = 124.2
        let gray = try Image(width: 1, height: 1, format: .gray, bytes: [9])
        #expect(gray.converted(to: .rgba).bytes == [9, 9, 9, 255])
    }
}
