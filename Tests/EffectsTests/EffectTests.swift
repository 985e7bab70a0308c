import Effects
import Imaging
import ImagingSupport
import Testing

/// A red disc on a blue ground with an edge of exactly known opacity.
struct DiscScene {
    let size: PixelSize
    let center: (x: Float, y: Float)
    let radius: Float
    var subject = RGBColor(red: 220, green: 30, blue: 20)
    var ground = RGBColor(red: 20, green: 60, blue: 230)

    init(width: Int = 160, height: Int = 120, radius: Float = 35) {
        size = PixelSize(width: width, height: height)
        center = (Float(width) * 0.45, Float(height) * 0.55)
        self.radius = radius
    }

    /// The share of the disc at a pixel, 0 to 1.
    func opacity(_ x: Int, _ y: Int) -> Float {
        let (dx, dy) = (Float(x) + 0.5 - center.x, Float(y) + 0.5 - center.y)
        return min(max(radius - (dx * dx + dy * dy).squareRoot() + 0.5, 0), 1)
    }

    var matte: Matte {
        Matte(
            size: size,
            opacities: (0..<size.pixelCount).map { UInt8(opacity($0 % size.width, $0 / size.width) * 255 + 0.5) })
    }

    func image(_ format: PixelFormat = .rgb) throws -> Image {
        var bytes: [UInt8] = []
        for (index, alpha) in matte.opacities.enumerated() {
            // A little texture, so that nothing is right by being flat.
            let noise = Float((index * 7919) % 13) - 6
            let share = Float(alpha) / 255
            for (front, back) in [
                (subject.red, ground.red), (subject.green, ground.green), (subject.blue, ground.blue),
            ] {
                bytes.append(UInt8(min(max(Float(front) * share + Float(back) * (1 - share) + noise, 0), 255)))
            }
        }
        return try Image(width: size.width, height: size.height, format: .rgb, bytes: bytes).converted(to: format)
    }

    /// Confidences as a network of coarse cells would give them: the disc's opacity, averaged and read between the cells.
    func map(cell: Int, certainty: Float = 8) -> SubjectMap {
        let network = PixelSize(width: 65, height: 65)
        var values: [Float] = []
        let reach = Float(cell) * 0.7
        for y in 0..<network.height {
            for x in 0..<network.width {
                let px = (Float(x) + 0.5) * Float(size.width) / Float(network.width)
                let py = (Float(y) + 0.5) * Float(size.height) / Float(network.height)
                let distance = ((px - center.x) * (px - center.x) + (py - center.y) * (py - center.y)).squareRoot()
                // The network's edge lies a few pixels off the true one, here outside, there inside.
                let wrong = 3 * (px > center.x ? 1 : -1) as Float
                values.append(SubjectMap.confidence(ofMargin: certainty * (radius + wrong - distance) / reach / 3))
            }
        }
        return SubjectMap(
            size: network, confidences: values, classes: [UInt8](repeating: 1, count: network.pixelCount),
            geometry: FitGeometry(.stretch, picture: size, network: network), cell: Float(cell))
    }
}

@Suite("Effects")
struct EffectTests {
    static let backgrounds: [Background] = [
        .color(.black), .gradient(Gradient(angle: 30, colors: [.black, .white])), .blur(radius: 4), .blur(), .gray,
        .dim(0.5), .picture(Image(size: PixelSize(width: 7, height: 5), format: .rgb, color: .white), .tile),
    ]

    @Test("Where everything is subject, every effect gives the picture back byte for byte", arguments: backgrounds)
    func allSubject(_ background: Background) throws {
        for (width, height) in [(1, 1), (33, 17), (64, 1)] {
            let picture = try Fixtures.noise(width, height, .rgb)
            let matte = Matte(size: picture.size, opacities: [UInt8](repeating: 255, count: width * height))
            #expect(Compositing.composite(picture, matte: matte, over: background) == picture)
            #expect(Compositing.cutout(picture, matte: matte).converted(to: .rgb) == picture)
        }
    }

    @Test("Where nothing is subject, only the background is seen", arguments: backgrounds)
    func nothing(_ background: Background) throws {
        let picture = try Fixtures.noise(40, 30, .rgb)
        let matte = Matte(size: picture.size, opacities: [UInt8](repeating: 0, count: 1200))
        let result = Compositing.composite(picture, matte: matte, over: background)
        if let expected = background.picture(of: picture.size) { #expect(result == expected) }
        #expect(Compositing.cutout(picture, matte: matte).bytes.allSatisfy { $0 == 0 })
    }

    @Test("A cut-out over its own background is the picture, within one level")
    func ownBackground() throws {
        for scene in [
            DiscScene(), DiscScene(width: 37, height: 50, radius: 12), DiscScene(width: 9, height: 9, radius: 3),
        ] {
            let picture = try scene.image()
            let matte = scene.matte
            let behind = Compositing.ownBackground(picture, matte: matte)
            let cutout = Compositing.cutout(picture, matte: matte)
            var largest = 0
            for index in 0..<picture.size.pixelCount {
                let alpha = Float(cutout.bytes[4 * index + 3]) / 255
                for channel in 0..<3 {
                    let over =
                        Float(cutout.bytes[4 * index + channel]) * alpha
                        + Float(behind.bytes[3 * index + channel]) * (1 - alpha)
                    largest = max(largest, abs(Int(over.rounded()) - Int(picture.bytes[3 * index + channel])))
                }
            }
            #expect(largest <= 1)
        }
    }

    @Test("The edge of a cut-out has the subject's colour, no rim of the background it was before")
    func noRim() throws {
        let scene = DiscScene()
        let cutout = Compositing.cutout(try scene.image(), matte: scene.matte)
        var worst = 0
        var edgeCount = 0
        for index in 0..<scene.size.pixelCount {
            // Below an eighth nobody sees the colour, and the picture says little of it.
            guard (32..<255).contains(cutout.bytes[4 * index + 3]) else { continue }
            edgeCount += 1
            let color = cutout.bytes[(4 * index)..<(4 * index + 3)].map(Int.init)
            let wanted = [220, 30, 20]
            worst = max(worst, zip(color, wanted).map { abs($0 - $1) }.max()!)
        }
        #expect(edgeCount > 100)
        // Without a correction the blue of the ground is there with up to 180 levels.
        #expect(worst <= 40, "\(worst)")
    }

    @Test("A subject does not bleed into the blur behind it", arguments: [Float(1), 4, 12, 40])
    func noBleeding(_ radius: Float) throws {
        let scene = DiscScene()
        let matte = scene.matte
        let result = Compositing.composite(try scene.image(), matte: matte, over: .blur(radius: radius))
        var reddest = 0
        for index in 0..<scene.size.pixelCount where matte.opacities[index] == 0 {
            reddest = max(reddest, Int(result.bytes[3 * index]))
        }
        #expect(reddest <= 40, "\(reddest)")
    }

    @Test("A blur has the deviation that was asked for")
    func blurRadius() throws {
        // A white half: behind a blur the step becomes the Gaussian's integral.
        for radius in [Float(2), 6, 20] {
            let size = PixelSize(width: 240, height: 40)
            let picture = Image(size: size, format: .rgb, color: .black).painted { x, _ in x >= 120 ? 255 : 0 }
            let matte = Matte(size: size, opacities: [UInt8](repeating: 0, count: size.pixelCount))
            let result = Compositing.composite(picture, matte: matte, over: .blur(radius: radius))
            // 84 % of the light at one deviation behind the step.
            let row = 20 * 240
            let first = (0..<240).first { result.bytes[3 * (row + $0)] >= 214 }!
            #expect(abs(Float(first) + 0.5 - 120 - radius) <= max(1, radius * 0.15), "radius \(radius): \(first)")
        }
    }

    @Test("Holes of a picture show the background")
    func holes() throws {
        let size = PixelSize(width: 4, height: 1)
        let bytes: [UInt8] = [9, 9, 9, 255, 9, 9, 9, 0, 9, 9, 9, 255, 9, 9, 9, 128]
        let picture = try Image(width: 4, height: 1, format: .rgba, bytes: bytes)
        let matte = Matte(size: size, opacities: [255, 255, 0, 255])
        let result = Compositing.composite(picture, matte: matte, over: .color(.white))
        #expect(Array(result.bytes[0..<9]) == [9, 9, 9, 255, 255, 255, 255, 255, 255])
        let cutout = Compositing.cutout(picture, matte: matte)
        #expect([3, 7, 11, 15].map { cutout.bytes[$0] } == [255, 0, 0, 128])
        // 9 over white, half and half.
        #expect(result.bytes[9...].allSatisfy { (131...132).contains($0) }, "\(result.bytes[9...])")
    }

    @Test("What lets the background through by itself keeps its colour at the edge, and does not turn white")
    func halfTransparent() throws {
        let size = PixelSize(width: 4, height: 1)
        let picture = try Image(
            width: 4, height: 1, format: .rgba,
            bytes: [UInt8](repeating: 100, count: 16).enumerated().map {
                $0.offset % 4 == 3 ? 128 : $0.element
            })
        let matte = Matte(size: size, opacities: [0, 60, 190, 255])
        let cutout = Compositing.cutout(picture, matte: matte).bytes
        #expect(cutout == [0, 0, 0, 0, 100, 100, 100, 30, 100, 100, 100, 95, 100, 100, 100, 128])
        let result = Compositing.composite(picture, matte: matte, over: .color(.black)).bytes
        #expect([0, 3, 6, 9].map { result[$0] } == [0, 12, 37, 50])
    }

    @Test("What is stored under transparent parts has no say in where the edge lies")
    func hiddenColors() throws {
        let scene = DiscScene()
        // A disc on transparent ground; what lies hidden there is white, or as the disc.
        func picture(hidden: RGBColor) throws -> Image {
            let colors = [scene.subject, hidden]
            let bytes = scene.matte.opacities.flatMap { opacity in
                let color = colors[opacity < 128 ? 1 : 0]
                return [color.red, color.green, color.blue, opacity < 128 ? 0 : 255]
            }
            return try Image(width: scene.size.width, height: scene.size.height, format: .rgba, bytes: bytes)
        }
        let mattes = try [RGBColor.white, scene.subject].map { hidden in
            let picture = try picture(hidden: hidden)
            return EdgeGuide(picture, scene.map(cell: 8)).matte(of: picture, EdgeOptions())
        }
        #expect(mattes[0] == mattes[1])
        #expect(mattes[0].opacities.contains(0) && mattes[0].opacities.contains(255))
    }

    @Test(
        "Gradients run along their angle and end in their colours",
        arguments: [
            (Float(0), 0, 39, 0, 0), (180, 0, 0, 0, 39), (90, 0, 0, 59, 0), (270, 59, 0, 0, 0), (135, 0, 0, 59, 39),
        ])
    func gradient(_ angle: Float, _ x0: Int, _ y0: Int, _ x1: Int, _ y1: Int) throws {
        let size = PixelSize(width: 60, height: 40)
        let image = try #require(
            Background.gradient(Gradient(angle: angle, colors: [.black, .white])).picture(of: size))
        #expect(image.bytes[3 * (y0 * 60 + x0)] <= 5)
        #expect(image.bytes[3 * (y1 * 60 + x1)] >= 250)
        let middle = image.bytes[3 * (20 * 60 + 30)]
        #expect((124...136).contains(middle))
        let flat = Background.gradient(Gradient(colors: [.middleGray, .middleGray])).picture(of: size)
        #expect(flat == Image(size: size, format: .rgb, color: .middleGray))
    }

    @Test("A picture behind covers, is contained or repeats")
    func fits() throws {
        let small = try Image(width: 2, height: 1, format: .rgb, bytes: [255, 0, 0, 0, 255, 0])
        let size = PixelSize(width: 4, height: 4)
        func pixel(_ image: Image, _ x: Int, _ y: Int) -> [UInt8] { Array(image.bytes[(3 * (y * 4 + x))...].prefix(3)) }
        let tiled = Background.picture(small, .tile).picture(of: size)!
        #expect(pixel(tiled, 2, 3) == [255, 0, 0] && pixel(tiled, 3, 0) == [0, 255, 0])
        let contained = Background.picture(small, .contain).picture(of: size)!
        #expect(pixel(contained, 0, 0) == [0, 0, 0] && pixel(contained, 0, 1) == [255, 0, 0])
        #expect(pixel(contained, 3, 2) == [0, 255, 0] && pixel(contained, 3, 3) == [0, 0, 0])
        let covered = Background.picture(small, .cover).picture(of: size)!
        #expect(covered.size == size && covered.bytes.count == 48)
        #expect(
            (0..<16).allSatisfy {
                covered.bytes[3 * $0 + 2] == 0 && covered.bytes[3 * $0] &+ covered.bytes[3 * $0 + 1] >= 254
            })
    }

    @Test("Outlines lie inside their objects, in full colour")
    func outline() throws {
        let size = PixelSize(width: 20, height: 20)
        let picture = Image(size: size, format: .rgb, color: .white)
        let categories = (0..<400).map { (5..<15).contains($0 % 20) && (5..<15).contains($0 / 20) ? UInt8(3) : 0 }
        let palette = Palette.voc(count: 21)
        let style = OverlayStyle(opacity: 0.25, outline: 2, colors: [3: RGBColor(red: 10, green: 20, blue: 30)])
        let result = Compositing.overlay(picture, categories: categories, palette: palette, style: style)
        func pixel(_ x: Int, _ y: Int) -> [UInt8] { Array(result.bytes[(3 * (y * 20 + x))...].prefix(3)) }
        #expect(pixel(4, 10) == [255, 255, 255])
        #expect(pixel(5, 10) == [10, 20, 30] && pixel(6, 10) == [10, 20, 30])
        #expect(pixel(10, 10) == [194, 196, 199])
        let plain = Compositing.overlay(picture, categories: categories, palette: palette, style: OverlayStyle())
        #expect(
            plain
                == categories.withUnsafeBufferPointer {
                    Compositing.overlay(picture, categories: $0, palette: palette)
                })
    }
}

extension Image {
    /// The picture with gray levels by column and row.
    func painted(_ level: (Int, Int) -> UInt8) -> Image {
        var bytes: [UInt8] = []
        for y in 0..<height { for x in 0..<width { bytes += [UInt8](repeating: level(x, y), count: 3) } }
        return try! Image(width: width, height: height, format: .rgb, bytes: bytes)
    }
}
