import Effects
import Imaging
import ImagingSupport
import TestSupport
import Testing

/// Every picture of the shared folder's `inputs`, against the line about it in the README there.
@Suite("Awkward pictures", .needs(shared: "inputs"))
struct AwkwardInputTests {
    private func read(_ name: String) throws -> DecodedImage {
        try ImageFile.read(path: SharedFiles.path("inputs/" + name))
    }

    private func card() throws -> Image { try read("rgb8.png").image }

    @Test("The test card is what it says")
    func testCard() throws {
        let card = try card()
        #expect(card.size == PixelSize(width: 64, height: 48) && card.format == .rgb)
        #expect(card.pixel(0, 0) == [255, 0, 0] && card.pixel(63, 0) == [0, 255, 0])
        #expect(card.pixel(0, 47) == [0, 0, 255] && card.pixel(63, 47) == [255, 255, 255])
    }

    @Test(
        "These are the test card, exactly",
        arguments: ["png_named.jpg", "rgb16.png", "ztxt_2MiB.png"])
    func sameAsCard(name: String) throws {
        let decoded = try read(name)
        #expect(try decoded.image == card())
        #expect(decoded.format == .png && decoded.notices.isEmpty)
    }

    @Test("These are close to the test card", arguments: [("base.jpg", 1), ("cmyk.jpg", 4), ("exif_1.jpg", 4)])
    func closeToCard(name: String, tolerance: Int) throws {
        let difference = try #require(try read(name).image.largestDifference(from: card()))
        #expect(difference <= tolerance, "\(name): \(difference)")
    }

    @Test(
        "These have the test card's colours away from the middle lines", arguments: ["progressive.jpg", "sub420.jpg"])
    func closeAwayFromEdges(name: String) throws {
        let (image, card) = (try read(name).image, try card())
        for (x, y) in [(5, 5), (58, 5), (5, 42), (58, 42), (16, 12), (47, 35)] {
            for (a, b) in zip(image.pixel(x, y), card.pixel(x, y)) {
                #expect(abs(Int(a) - Int(b)) <= 8, "\(name) at \(x), \(y)")
            }
        }
    }

    @Test(
        "EXIF orientations turn the test card",
        arguments: [(0, 1), (1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (7, 7), (9, 1)])
    func exif(tag: Int, meaning: Int) throws {
        let decoded = try read("exif_\(tag).jpg")
        let orientation = try #require(Orientation(rawValue: meaning))
        #expect(decoded.orientation == orientation)
        let difference = try #require(try decoded.image.largestDifference(from: card().oriented(orientation)))
        #expect(difference <= 4)
        // In the README's words: where red has to be.
        let (right, bottom) = (decoded.image.width - 3, decoded.image.height - 3)
        let (x, y) = [1: (2, 2), 2: (right, 2), 3: (right, bottom), 4: (2, bottom), 6: (right, 2), 7: (right, bottom)][
            meaning]!
        let red = decoded.image.pixel(x, y)
        #expect(red[0] > 245 && red[1] < 10 && red[2] < 10)
    }

    @Test(
        "Broken files are errors", .childProcess,
        arguments: [
            ("crc_bad.png", "damaged PNG"), ("empty.png", "empty"), ("ihdr_zero.png", "has no pixels"),
            ("photo_like_trunc.jpg", "the file ends before the picture does (JPEG)"),
            ("trunc_half.png", "the file ends before the picture does (PNG)"),
        ])
    func broken(name: String, cause: String) throws {
        let error = #expect(throws: ImageError.self) { try read(name) }
        let message = error?.description ?? ""
        #expect(message.hasPrefix(SharedFiles.path("inputs/" + name) + ": ") && message.contains(cause), "\(message)")
        #expect(!message.contains("\n"))
    }

    @Test(
        "Bombs are refused from the header, with the claimed size and the limit", .childProcess,
        arguments: [("bomb_header_100000.png", "100000x100000"), ("bomb_real_20000_1bit.png", "20000x20000")])
    func bombs(name: String, claim: String) throws {
        let start = ContinuousClock.now
        let error = #expect(throws: ImageError.self) { try read(name) }
        #expect(ContinuousClock.now - start < .milliseconds(100))
        let message = error?.description ?? ""
        #expect(message.contains(claim) && message.contains("the limit is 100.0 million"), "\(message)")
    }

    @Test("The first frame of an animated PNG is read, and that one is left out is said")
    func animated() throws {
        let decoded = try read("apng2.png")
        #expect(
            decoded.image == Image(size: PixelSize(width: 64, height: 48), format: .rgb, color: .init(hex: "ff0000")!))
        #expect(decoded.notices == ["animated PNG: the first of 2 frames is used"])
    }

    @Test(
        "Flat pictures are flat",
        arguments: [
            ("flat_0.png", "000000"), ("flat_127.png", "7f7f7f"), ("flat_255.png", "ffffff"),
            ("flat_red.png", "ff0000"),
        ])
    func flat(name: String, color: String) throws {
        let image = try read(name).image
        #expect(
            image
                == Image(
                    size: PixelSize(width: 257, height: 257), format: .rgb, color: try #require(RGBColor(hex: color))))
        // On every path to the network: no channel swap, no change by the resize.
        let input = Preprocessor(picture: image.size, network: PixelSize(width: 65, height: 65)).prepare(image)
        #expect(input == Image(size: input.size, format: .rgb, color: try #require(RGBColor(hex: color))))
    }

    @Test("Gray is repeated, low bit depths are stretched, rows are not skewed")
    func gray() throws {
        let one = try read("gray1.png").image
        let two = try read("gray2.png").image
        let eight = try read("gray8.png").image
        for y in [0, 17, 47] {
            for x in 0..<64 {
                let level1 = one.pixel(x, y), level1Start = one.pixel(x % 8 / 4 * 4, 0)
                #expect(level1 == level1Start && (level1 == [0, 0, 0] || level1 == [255, 255, 255]))
                #expect(two.pixel(x, y) == [UInt8](repeating: UInt8(x % 4 * 85), count: 3))
                let level8 = eight.pixel(x, y)
                #expect(level8[0] == level8[1] && level8[1] == level8[2])
            }
        }
        #expect(one.pixel(0, 0) != one.pixel(4, 0))
        #expect(eight.pixel(63, 0)[0] > eight.pixel(0, 0)[0])
        let jpeg = try read("gray.jpg").image
        #expect(jpeg.format == .rgb && jpeg == jpeg.converted(to: .gray).converted(to: .rgb))
    }

    @Test("Opacity is read and honoured")
    func alpha() throws {
        let gray = try read("graya8.png").image
        #expect(gray.format == .rgba)
        let opacities = stride(from: 3, to: gray.bytes.count, by: 4).map { gray.bytes[$0] }
        #expect(Set(opacities) == [128])
        let level = gray.pixel(40, 20)
        #expect(level[0] == level[1] && level[1] == level[2])
        let overWhite: Int = (Int(level[0]) * 128 + 255 * 127 + 127) / 255
        #expect(gray.flattened().pixel(40, 20).map(Int.init) == [overWhite, overWhite, overWhite])

        let palette = try read("pal8_trns.png").image
        for (x, y, color) in [(0, 0, [255, 0, 0, 0]), (63, 0, [0, 255, 0, 128]), (0, 47, [0, 0, 255, 255])] {
            #expect(palette.pixel(x, y).map(Int.init) == color)
        }
    }

    @Test(
        "What lies under alpha 0 reaches neither the network nor the output",
        arguments: ["rgba8.png", "rgba8_garbage_under_alpha0.png"])
    func hole(name: String) throws {
        let (image, card) = (try read(name).image, try card())
        #expect(image.format == .rgba)
        let flat = image.flattened()
        for (x, y) in [(0, 0), (16, 47), (17, 0), (63, 47), (8, 24)] {
            #expect(flat.pixel(x, y) == (x <= 16 ? [255, 255, 255] : card.pixel(x, y)))
        }
        let network = PixelSize(width: 33, height: 33)
        let input = Preprocessor(picture: image.size, network: network).prepare(image)
        #expect(input == flat.resized(width: 33, height: 33))
        let mask = [UInt8](repeating: 255, count: image.size.pixelCount)
        let cutout = mask.withUnsafeBufferPointer { Compositing.cutout(image, alpha: $0) }
        #expect(cutout.pixel(8, 24) == [0, 0, 0, 0] && cutout.pixel(40, 24) == card.pixel(40, 24) + [255])
    }

    @Test(
        "These decode to the size in the README",
        arguments: [
            ("noise.png", 64, 48), ("photo_like.jpg", 640, 480), ("photo_prog.jpg", 640, 480),
            ("size_10000x1.png", 10_000, 1),
            ("size_1x1.png", 1, 1), ("size_1x2000.png", 1, 2000), ("size_2000x1.png", 2000, 1),
            ("size_257x257.png", 257, 257),
            ("size_512x512.png", 512, 512), ("size_513x513.png", 513, 513),
        ])
    func sizes(name: String, width: Int, height: Int) throws {
        let image = try read(name).image
        #expect(image.size == PixelSize(width: width, height: height))
        for fit in Fit.allCases {
            let input = Preprocessor(picture: image.size, network: PixelSize(width: 257, height: 257), fit: fit)
                .prepare(image)
            #expect(input.bytes.count == 257 * 257 * 3)
        }
        let mask = [UInt8](repeating: 15, count: image.size.pixelCount)
        try mask.withUnsafeBufferPointer { mask in
            let overlay = Compositing.overlay(image, categories: mask, palette: Palette.voc(count: 21))
            let decoded = try ImageFile.decode(overlay.encoded(as: .png)).image
            #expect(decoded == overlay)
            #expect(Compositing.cutout(image, alpha: mask).size == image.size)
        }
    }

    @Test("The black and gray square is 200 to 299 on both axes")
    func square() throws {
        let image = try read("square_200_300.png").image
        #expect(image.size == PixelSize(width: 500, height: 500))
        for (at, level) in [(199, 0), (200, 50), (299, 50), (300, 0)] as [(Int, UInt8)] {
            #expect(image.pixel(at, 250)[0] == level && image.pixel(250, at)[0] == level)
        }
    }

    @Test("A label picture is read by index, and as a picture by colour")
    func labels() throws {
        let path = SharedFiles.path("inputs/voc_palette_label.png")
        let labels = try ImageFile.readLabels(path: path)
        for (x, y, index) in [(0, 0, 255), (63, 8, 255), (17, 9, 15), (39, 47, 15), (16, 9, 0), (40, 47, 0)] {
            #expect(labels.pixel(x, y).map(Int.init) == [index])
        }
        let colors = try read("voc_palette_label.png").image
        let palette = Palette.voc(count: 256)
        for (x, y) in [(0, 0), (17, 9), (0, 20)] {
            let color = palette[Int(labels.pixel(x, y)[0])]
            #expect(colors.pixel(x, y).prefix(3).elementsEqual([color.red, color.green, color.blue]))
        }
    }
}
