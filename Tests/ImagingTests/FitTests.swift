import Imaging
import ImagingSupport
import Testing

@Suite("Fit")
struct FitTests {
    private func geometry(_ fit: Fit, _ width: Int, _ height: Int, _ side: Int = 257) -> FitGeometry {
        FitGeometry(
            fit, picture: PixelSize(width: width, height: height), network: PixelSize(width: side, height: side))
    }

    @Test("The rectangles are whole, centred and in proportion")
    func rectangles() {
        #expect(geometry(.stretch, 640, 480).source.description == "640x480+0+0")
        #expect(geometry(.stretch, 640, 480).target.description == "257x257+0+0")
        #expect(geometry(.letterbox, 640, 480).source.description == "640x480+0+0")
        #expect(geometry(.letterbox, 640, 480).target.description == "257x193+0+32")
        #expect(geometry(.letterbox, 480, 640).target.description == "193x257+32+0")
        #expect(geometry(.crop, 640, 480).source.description == "480x480+80+0")
        #expect(geometry(.crop, 640, 480).target.description == "257x257+0+0")
        #expect(geometry(.crop, 480, 640).source.description == "480x480+0+80")
        #expect(geometry(.letterbox, 10_000, 1).target.description == "257x1+0+128")
        #expect(geometry(.crop, 10_000, 1).source.description == "1x1+4999+0")
        for fit in Fit.allCases {
            #expect(geometry(fit, 100, 100).source.description == "100x100+0+0")
            #expect(geometry(fit, 100, 100).target.description == "257x257+0+0")
        }
    }

    @Test("Positions go to the network and come back", arguments: Fit.allCases)
    func positions(fit: Fit) {
        let geometry = geometry(fit, 641, 427)
        for (x, y) in [(0.0, 0.0), (320.25, 100.5), (640, 426)] {
            let there = geometry.networkPosition(x: x, y: y)
            let back = geometry.picturePosition(x: there.x, y: there.y)
            #expect(abs(back.x - x) < 1e-9 && abs(back.y - y) < 1e-9)
        }
        // Edges lie half a pixel beside the centres.
        let (source, target) = (geometry.source, geometry.target)
        let corner = geometry.networkPosition(x: Double(source.x) - 0.5, y: Double(source.y) - 0.5)
        #expect(abs(corner.x - (Double(target.x) - 0.5)) < 1e-9 && abs(corner.y - (Double(target.y) - 0.5)) < 1e-9)
    }

    /// A network that hands its input through: where the gray square's edges come back tells of shifts and half pixels.
    @Test("A square's edges come back from the network where they were", arguments: Fit.allCases, [257, 513])
    func square(fit: Fit, side: Int) throws {
        // Pictures wider, higher and as wide as high; the square is 200 ..< 300 in both directions.
        for (width, height) in [(500, 500), (640, 500), (500, 620)] {
            var bytes = [UInt8](repeating: 0, count: width * height)
            for y in 200..<300 { for x in 200..<300 { bytes[y * width + x] = 50 } }
            let picture = try Image(width: width, height: height, format: .gray, bytes: bytes)
            let network = PixelSize(width: side, height: side)
            let preprocessor = Preprocessor(picture: picture.size, network: network, fit: fit, padding: .black)
            let input = preprocessor.prepare(picture)
            let geometry = preprocessor.geometry

            /// The network's value at a position of the picture, bilinear.
            func value(x: Double, y: Double) -> Double {
                let at = geometry.networkPosition(x: x, y: y)
                let column = min(max(at.x, 0), Double(side - 1)), row = min(max(at.y, 0), Double(side - 1))
                let (x0, y0) = (Int(column), Int(row))
                let (x1, y1) = (min(x0 + 1, side - 1), min(y0 + 1, side - 1))
                let (fx, fy) = (column - Double(x0), row - Double(y0))
                func level(_ x: Int, _ y: Int) -> Double { Double(input.pixel(x, y)[0]) }
                let upper = level(x0, y0) * (1 - fx) + level(x1, y0) * fx
                let lower = level(x0, y1) * (1 - fx) + level(x1, y1) * fx
                return upper * (1 - fy) + lower * fy
            }
            /// The first position at which half of 50 is reached, walking in small steps.
            func edge(from start: Double, step: Double, _ sample: (Double) -> Double) -> Double {
                var at = start
                while sample(at) < 25, abs(at - start) < 200 { at += step }
                return at
            }
            let rowOfSquare = 249.5
            // Pixel i covers i - 0.5 ... i + 0.5 in pixel centres: the edges of 200 ..< 300 are at 199.5 and 299.5.
            let left = edge(from: 150, step: 0.01) { value(x: $0, y: rowOfSquare) }
            let right = edge(from: 350, step: -0.01) { value(x: $0, y: rowOfSquare) }
            let top = edge(from: 150, step: 0.01) { value(x: rowOfSquare, y: $0) }
            let bottom = edge(from: 350, step: -0.01) { value(x: rowOfSquare, y: $0) }
            for (found, wanted) in [(left, 199.5), (right, 299.5), (top, 199.5), (bottom, 299.5)] {
                #expect(abs(found - wanted) <= 0.5, "\(fit) \(width)x\(height) to \(side): \(found), not \(wanted)")
            }
        }
    }

    @Test("A letterbox has bars of the padding colour around the resized picture")
    func letterbox() throws {
        let picture = try Fixtures.noise(40, 20, .rgb)
        let network = PixelSize(width: 21, height: 21)
        let input = Preprocessor(picture: picture.size, network: network, fit: .letterbox).prepare(picture)
        let inner = picture.resized(width: 21, height: 11)
        for y in 0..<21 {
            for x in 0..<21 {
                #expect(input.pixel(x, y) == ((5..<16).contains(y) ? inner.pixel(x, y - 5) : [127, 127, 127]))
            }
        }
    }

    @Test("A crop is the middle of the picture, resized alone")
    func crop() throws {
        let picture = try Fixtures.noise(40, 20, .rgb)
        let network = PixelSize(width: 13, height: 13)
        let input = Preprocessor(picture: picture.size, network: network, fit: .crop).prepare(picture)
        var middle: [UInt8] = []
        for y in 0..<20 {
            let start = (y * 40 + 10) * 3
            middle += picture.bytes[start..<start + 60]
        }
        let expected = try Image(width: 20, height: 20, format: .rgb, bytes: middle).resized(width: 13, height: 13)
        #expect(input == expected)
    }
}

@Suite("Normalisation")
struct NormalizationTests {
    private func normalized(_ normalization: Normalization, _ bytes: [UInt8]) -> [Float] {
        var floats = [Float](repeating: .nan, count: bytes.count)
        bytes.withUnsafeBufferPointer { bytes in
            floats.withUnsafeMutableBufferPointer { normalization.apply(bytes, into: $0) }
        }
        return floats
    }

    @Test("Each channel has its own scale and bias, in the order of the network")
    func channels() {
        let bytes: [UInt8] = [0, 100, 255, 1, 2, 3]
        let rgb = Normalization(order: .rgb, scale: [1, 2, 4], bias: [0, 0.5, -1])
        #expect(normalized(rgb, bytes) == [0, 200.5, 1019, 1, 4.5, 11])
        let bgr = Normalization(order: .bgr, scale: [1, 2, 4], bias: [0, 0.5, -1])
        #expect(normalized(bgr, bytes) == [255, 200.5, -1, 3, 4.5, 3])
        let gray = Normalization(order: .gray, scale: [0.5], bias: [1])
        #expect(normalized(gray, bytes) == [1, 51, 128.5, 1.5, 2, 2.5])
    }

    @Test("x / 127.5 - 1 takes 0 to -1 and 255 to 1")
    func deepLab() {
        let network = Normalization(
            order: .rgb, scale: [Float](repeating: 1 / 127.5, count: 3), bias: [-1, -1, -1])
        let values = normalized(network, [0, 127, 255])
        #expect(values[0] == -1)
        #expect(abs(values[1] + 0.5 / 127.5) < 1e-7)
        #expect(abs(values[2] - 1) < 1e-6)
    }
}
