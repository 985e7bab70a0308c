import Effects
import Imaging
import ImagingSupport
import TestSupport
import Testing

@Suite("Edges")
struct EdgeTests {
    /// Share of the pixels that are in both of those that are in one.
    private func overlap(_ first: Matte, _ second: Matte) -> Float {
        let pairs = zip(first.opacities, second.opacities)
        let both = pairs.count { $0 >= 128 && $1 >= 128 }
        let one = pairs.count { $0 >= 128 || $1 >= 128 }
        return Float(both) / Float(max(one, 1))
    }

    @Test("An edge is drawn where the picture has it, not where the network's cells put it")
    func guided() throws {
        for (cell, least) in [(8, Float(0.97)), (16, 0.95)] {
            let scene = DiscScene(width: 320, height: 240, radius: 70)
            let guide = EdgeGuide(try scene.image(), scene.map(cell: cell))
            let guided = guide.matte(of: try scene.image(), EdgeOptions())
            let plain = EdgeGuide(try scene.image(), scene.map(cell: cell), for: .plain)
                .matte(of: try scene.image(), EdgeOptions(source: .plain))
            let (better, worse) = (overlap(guided, scene.matte), overlap(plain, scene.matte))
            #expect(better > worse + 0.01 && better > least, "cell \(cell): \(better) after \(worse)")
        }
    }

    @Test("Sure maps stay sure: all subject is opaque, no subject transparent, whatever the picture and the threshold")
    func certain() throws {
        let picture = try Fixtures.noise(91, 53, .rgb)
        let network = PixelSize(width: 33, height: 33)
        for (confidence, expected) in [(Float(1), UInt8(255)), (0, 0)] {
            let map = SubjectMap(
                size: network, confidences: [Float](repeating: confidence, count: 33 * 33),
                classes: [UInt8](repeating: 1, count: 33 * 33),
                geometry: FitGeometry(.stretch, picture: picture.size, network: network), cell: 20)
            for threshold in [Float(0.05), 0.5, 0.95] {
                for source in EdgeOptions.Source.allCases {
                    let matte = EdgeGuide(picture, map, for: source).matte(
                        of: picture, EdgeOptions(source: source, threshold: threshold, shift: 3, feather: 5))
                    #expect(matte.opacities.allSatisfy { $0 == expected })
                }
            }
        }
    }

    @Test(
        "What the network has not seen is background, and what it has lies where it was seen", arguments: Fit.allCases)
    func geometry(_ fit: Fit) throws {
        let picture = PixelSize(width: 200, height: 80)
        let network = PixelSize(width: 50, height: 50)
        let geometry = FitGeometry(fit, picture: picture, network: network)
        // A square of the picture, drawn into the network's output.
        let square = (x: 90..<120, y: 20..<60)
        var values = [Float](repeating: 0, count: 2500)
        for y in 0..<50 {
            for x in 0..<50 {
                let place = geometry.picturePosition(x: Double(x), y: Double(y))
                let isInside = square.x.contains(Int(place.x.rounded())) && square.y.contains(Int(place.y.rounded()))
                values[y * 50 + x] = isInside ? 1 : 0
            }
        }
        let map = SubjectMap(
            size: network, confidences: values, classes: [UInt8](repeating: 1, count: 2500), geometry: geometry, cell: 4
        )
        let image = Image(size: picture, format: .rgb, color: .white)
        let matte = EdgeGuide(image, map, for: .plain).matte(of: image, EdgeOptions(source: .plain))
        var columns: [Int] = []
        for x in 0..<200 where matte[x, 40] >= 128 { columns.append(x) }
        let cell = fit == .crop ? 2 : 4
        #expect(abs((columns.first ?? 0) - 90) <= cell && abs((columns.last ?? 0) - 119) <= cell, "\(columns)")
        if fit == .crop { #expect((0..<60).allSatisfy { matte[$0, 40] == 0 }) }
    }

    @Test(
        "A shift moves the edge by so many pixels, outwards and inwards",
        arguments: [Float(-40), -20, -4, -1, 1, 4.5, 20, 80])
    func shift(_ pixels: Float) throws {
        let scene = DiscScene(width: 400, height: 400, radius: 50)
        var moved = scene.matte
        moved = EdgeShape.shifted(moved, by: pixels)
        let area = moved.opacities.reduce(0) { $0 + Float($1) / 255 }
        let radius = (area / .pi).squareRoot()
        #expect(abs(radius - 50 - pixels) < (abs(pixels) > 32 ? 2 : 0.8), "\(radius)")
    }

    @Test("A moved edge is as soft as before, and thin things grow too")
    func softness() throws {
        let size = PixelSize(width: 120, height: 40)
        // An edge that fades over 10 columns, and a line one pixel wide.
        let soft = Matte(size: size, opacities: (0..<4800).map { UInt8(min(max(($0 % 120 - 50) * 25, 0), 255)) })
        for pixels in [Float(-12), -3, 3, 12] {
            let moved = EdgeShape.shifted(soft, by: pixels)
            for x in 20..<100 { #expect(moved[x, 20] == soft[x + Int(pixels), 20]) }
        }
        let line = Matte(size: size, opacities: (0..<4800).map { $0 % 120 == 60 ? 255 : 0 })
        let grown = EdgeShape.shifted(line, by: 7)
        #expect((53...67).allSatisfy { grown[$0, 20] == 255 } && grown[52, 20] == 0 && grown[68, 20] == 0)
        #expect(EdgeShape.shifted(line, by: -1).opacities.allSatisfy { $0 == 0 })
    }

    @Test(
        "Growing takes the greatest within a disc, at the picture's borders too",
        arguments: [(1, 1), (1, 6), (6, 1), (2, 2), (9, 7)])
    func disc(width: Int, height: Int) {
        var random = SeededGenerator(seed: 5)
        let size = PixelSize(width: width, height: height)
        for _ in 0..<20 {
            let opacities = (0..<width * height).map { _ in
                Int.random(in: 0..<6, using: &random) == 0 ? UInt8.random(in: 1...255, using: &random) : 0
            }
            for radius in 1...4 {
                let expected = (0..<width * height).map { index in
                    opacities.indices.filter { other in
                        let (dx, dy) = (other % width - index % width, other / width - index / width)
                        return dx * dx + dy * dy <= radius * radius
                    }.map { opacities[$0] }.max()
                }
                let grown = EdgeShape.shifted(Matte(size: size, opacities: opacities), by: Float(radius))
                #expect(grown.opacities == expected)
            }
        }
    }

    @Test("A feathered edge fades over its width and keeps its place")
    func feather() throws {
        let size = PixelSize(width: 200, height: 20)
        let step = Matte(size: size, opacities: (0..<4000).map { $0 % 200 < 100 ? 0 : 255 })
        for width in [Float(4), 16, 60] {
            let faded = EdgeShape.feathered(step, by: width)
            let row = (0..<200).map { faded[$0, 10] }
            #expect(zip(row, row.dropFirst()).allSatisfy { $0 <= $1 })
            #expect(abs(Int(row[99]) + Int(row[100]) - 255) <= 6)
            let half = Int(width / 2)
            #expect(row[99 - half] < 26 && row[100 + half] > 229, "\(width): \(row[99 - half]) \(row[100 + half])")
            #expect(row[100 + half / 4] < 240)
        }
    }

    @Test(
        "Feathering row by row gives what a blur of the whole plane gives",
        arguments: [(1, 1), (1, 40), (40, 1), (7, 5), (33, 17), (130, 61)].map { PixelSize(width: $0, height: $1) })
    func featherRows(size: PixelSize) {
        var random = SeededGenerator(seed: 5)
        let matte = Matte(
            size: size, opacities: (0..<size.pixelCount).map { _ in UInt8.random(in: 0...255, using: &random) })
        // Up to 24 at the picture's size, from there on in smaller copies.
        for pixels in [Float(0.3), 2, 8, 13, 23.9, 24, 40, 200] {
            #expect(EdgeShape.feathered(matte, by: pixels) == EdgeShape.blurred(matte, by: pixels), "\(pixels)")
        }
    }

    @Test("A score that is no number is background, and nothing more is lost")
    func notANumber() {
        #expect(SubjectMap.confidence(ofMargin: .nan) == SubjectMap.confidence(ofMargin: -.infinity))
        #expect(SubjectMap.confidence(ofMargin: .infinity) > 0.99)
    }

    @Test("Numbers out of their ranges are faults")
    func faults() {
        #expect(EdgeOptions().fault == nil)
        #expect(EdgeOptions(threshold: 0).fault?.contains("threshold") == true)
        #expect(EdgeOptions(threshold: .nan).fault?.contains("threshold") == true)
        #expect(EdgeOptions(shift: 1e9).fault?.contains("shift") == true)
        #expect(EdgeOptions(feather: -1).fault?.contains("feather") == true)
    }
}

/// Single steps of an edge's way, for tests.
enum EdgeShape {
    static func shifted(_ matte: Matte, by pixels: Float) -> Matte {
        var matte = matte
        matte.grow(by: pixels)
        return matte
    }

    static func feathered(_ matte: Matte, by pixels: Float) -> Matte {
        var matte = matte
        matte.feather(by: pixels)
        return matte
    }
}

extension EdgeShape {
    /// What `feathered` gives, by grids of the whole plane.
    static func blurred(_ matte: Matte, by pixels: Float) -> Matte {
        let step = max(1, Int(pixels / 12))
        let small = PixelSize(
            width: (matte.size.width + step - 1) / step, height: (matte.size.height + step - 1) / step)
        let plane = matte.image.resized(width: small.width, height: small.height)
        let grid = Grid(small, plane.bytes.map { SIMD4(Float($0) / 255, 0, 0, 0) }).blurred(
            deviation: pixels / 4 / Float(step))
        let sampler = GridSampler(grid, over: matte.size)
        var opacities: [UInt8] = []
        for y in 0..<matte.size.height {
            sampler.move(toRow: y)
            for x in 0..<matte.size.width {
                opacities.append(byte(fraction: sampler.value(at: x).x))
            }
        }
        return Matte(size: matte.size, opacities: opacities)
    }
}

@Suite("Motion")
struct MotionTests {
    /// A frame with a textured square on a textured ground, and the network's idea of it.
    private func frame(at x: Int, seed: UInt64, confidence: Float = 1, noise: Int = 3) -> EdgeGuide {
        var random = SeededGenerator(seed: seed)
        let size = PixelSize(width: 160, height: 120)
        var bytes: [UInt8] = []
        var values: [Float] = []
        for row in 0..<size.height {
            for column in 0..<size.width {
                let isInside = (x..<x + 40).contains(column) && (40..<80).contains(row)
                let (u, v) = isInside ? (column - x, row) : (column, row)
                let texture = (u * 37 + v * 91 + (isInside ? 5 : 0)) % 64
                let level = (isInside ? 150 : 60) + texture + Int.random(in: -noise...noise, using: &random)
                bytes += [UInt8](repeating: UInt8(level), count: 3)
                values.append(isInside ? confidence : 0)
            }
        }
        let picture = try! Image(width: size.width, height: size.height, format: .rgb, bytes: bytes)
        let map = SubjectMap(
            size: size, confidences: values, classes: [UInt8](repeating: 1, count: values.count),
            geometry: FitGeometry(.stretch, picture: size, network: size), cell: 4)
        return EdgeGuide(picture, map)
    }

    private func value(_ guide: EdgeGuide, _ x: Int, _ y: Int) -> Float {
        guide.confidences[y * guide.picture.width + x]
    }

    @Test("What stands still flickers less")
    func flicker() {
        var smoother = MotionSmoother()
        var levels: [Float] = []
        for index in 0..<40 {
            var guide = frame(at: 60, seed: UInt64(index), confidence: index % 2 == 0 ? 0.9 : 0.5)
            smoother.smooth(&guide, strength: 0.6)
            levels.append(value(guide, 80, 60))
        }
        let steps = zip(levels.dropFirst(20), levels.dropFirst(21)).map { abs($0 - $1) }
        let mean = steps.reduce(0, +) / Float(steps.count)
        #expect(mean < 0.4 * 0.45, "\(mean) of 0.4")
        #expect(abs(levels.suffix(10).reduce(0, +) / 10 - 0.7) < 0.05)
    }

    @Test("What moves leaves no trail and is not left behind")
    func noTrail() {
        var smoother = MotionSmoother()
        for index in 0..<12 {
            let x = 20 + 5 * index
            var guide = frame(at: x, seed: UInt64(index))
            smoother.smooth(&guide, strength: 0.6)
            guard index > 2 else { continue }
            // Just behind and just inside its front edge.
            #expect(value(guide, x - 4, 60) < 0.25, "trail at \(index): \(value(guide, x - 4, 60))")
            #expect(value(guide, x + 37, 60) > 0.75, "lag at \(index): \(value(guide, x + 37, 60))")
        }
    }

    @Test("Where the whole picture moves, its edges move along and stay sharp")
    func pan() throws {
        let size = PixelSize(width: 160, height: 96)
        var random = SeededGenerator(seed: 9)
        // So that another place differs clearly, and yet by less than another scene does.
        let ground = (0..<260 * size.height).map { _ in UInt8.random(in: 90...160, using: &random) }
        var smoother = MotionSmoother()
        for index in 0..<6 {
            let left = 4 * index
            let places = (0..<size.pixelCount).map { ($0 / size.width, left + $0 % size.width) }
            let picture = try Image(
                width: size.width, height: size.height, format: .rgb,
                bytes: places.flatMap { [UInt8](repeating: ground[$0 * 260 + $1], count: 3) })
            // Stripes of the ground, 8 columns each, which flicker a little.
            let level: Float = index % 2 == 0 ? 1 : 0.8
            let stripes = places.map { Float($1 / 8 % 2) * level }
            let map = SubjectMap(
                size: size, confidences: stripes, classes: [UInt8](repeating: 1, count: size.pixelCount),
                geometry: FitGeometry(.stretch, picture: size, network: size), cell: 4)
            var guide = EdgeGuide(picture, map)
            smoother.smooth(&guide, strength: 0.9)
            // But for the columns that have just come into the picture.
            let wrong = (0..<size.pixelCount).filter { (8..<144).contains($0 % size.width) }
                .map { abs(guide.confidences[$0] - stripes[$0]) }
            let mean = wrong.reduce(0, +) / Float(wrong.count)
            #expect(index == 0 ? mean == 0 : (0.001..<0.12).contains(mean), "\(mean) in frame \(index)")
        }
    }

    @Test("Another scene begins anew")
    func cut() {
        var smoother = MotionSmoother()
        var first = frame(at: 20, seed: 1)
        smoother.smooth(&first, strength: 0.9)
        let size = PixelSize(width: 160, height: 120)
        let white = Image(size: size, format: .rgb, color: .white)
        let map = SubjectMap(
            size: size, confidences: [Float](repeating: 0, count: size.pixelCount),
            classes: [UInt8](repeating: 1, count: size.pixelCount),
            geometry: FitGeometry(.stretch, picture: size, network: size), cell: 4)
        var other = EdgeGuide(white, map)
        smoother.smooth(&other, strength: 0.9)
        #expect(other.confidences.allSatisfy { $0 == 0 })
        // Frames of another size are another film.
        var larger = frame(at: 20, seed: 1)
        smoother.smooth(&larger, strength: 0.9)
        #expect(value(larger, 40, 60) == 1)
    }
}
