import Effects
import Imaging
import Testing

@Suite("Holes and specks")
struct OutlineTests {
    private static let side = 100

    /// A map of a square subject of 60 x 60 places with whatever `change` draws into confidences and categories.
    private func mended(
        _ change: (_ set: (Range<Int>, Range<Int>, Float, UInt8) -> Void) -> Void
    ) -> SubjectMap {
        let size = PixelSize(width: Self.side, height: Self.side)
        var confidences = [Float](repeating: 0, count: size.pixelCount)
        var categories = [UInt8](repeating: 0, count: size.pixelCount)
        func set(_ columns: Range<Int>, _ rows: Range<Int>, _ confidence: Float, _ category: UInt8) {
            for y in rows {
                for x in columns {
                    confidences[y * Self.side + x] = confidence
                    categories[y * Self.side + x] = category
                }
            }
        }
        set(20..<80, 20..<80, 1, 15)
        change(set)
        var map = SubjectMap(
            size: size, confidences: confidences, classes: [UInt8](repeating: 15, count: size.pixelCount),
            geometry: FitGeometry(.stretch, picture: size, network: size), cell: 8)
        map.mendOutline(categories: categories, of: size)
        return map
    }

    private func value(_ map: SubjectMap, _ x: Int, _ y: Int) -> Float { map.confidences[y * Self.side + x] }

    @Test("A chair that is seen through somebody is closed, however sure the network is; the room under an arm stays")
    func holes() {
        // 100 of about 3600 places: less than a twentieth, more than a bead.
        let chair = mended { set in set(40..<50, 40..<50, 0.01, 9) }
        #expect((40..<50).allSatisfy { value(chair, $0, 45) == 1 })
        let room = mended { set in set(40..<50, 40..<50, 0.01, 0) }
        #expect((40..<50).allSatisfy { value(room, $0, 45) == 0.01 })
        // Background, but not sure of it.
        let doubt = mended { set in set(40..<50, 40..<50, 0.3, 0) }
        #expect((40..<50).allSatisfy { value(doubt, $0, 45) == 1 })
        // Half of it sure background: it stays.
        let half = mended { set in
            set(40..<50, 40..<45, 0.01, 0)
            set(40..<50, 45..<50, 0.01, 9)
        }
        #expect(value(half, 45, 42) == 0.01 && value(half, 45, 48) == 0.01)
    }

    @Test("A bead is closed whatever is seen in it, and a hole larger than a twentieth never")
    func sizes() {
        let bead = mended { set in set(40..<43, 40..<43, 0, 0) }
        #expect(value(bead, 41, 41) == 1)
        let window = mended { set in set(40..<56, 40..<56, 0.01, 9) }
        #expect(value(window, 48, 48) == 0.01)
        // Weak, and yet subject: nothing shows through.
        let weak = mended { set in set(40..<60, 40..<60, 0.6, 15) }
        #expect(value(weak, 50, 50) == 1)
    }

    @Test("What reaches the border, or the room around, is no hole")
    func border() {
        let notch = mended { set in set(40..<44, 20..<40, 0.01, 9) }
        #expect(value(notch, 42, 30) == 0.01)
        let cut = mended { set in
            set(0..<100, 50..<100, 1, 15)
            set(40..<44, 90..<100, 0.01, 9)
        }
        #expect(value(cut, 42, 95) == 0.01)
    }

    @Test("Specks beside the subject are dropped with their soft rim, a second person is kept")
    func specks() {
        let speck = mended { set in
            set(3..<12, 3..<12, 0.3, 0)
            set(5..<10, 5..<10, 0.9, 15)
        }
        #expect((0..<15).allSatisfy { x in (0..<15).allSatisfy { value(speck, x, $0) == 0 } })
        #expect(value(speck, 50, 50) == 1)
        let person = mended { set in set(3..<13, 3..<13, 0.9, 15) }
        #expect(value(person, 8, 8) == 0.9)
    }

    @Test("Nothing is taken for a subject where there is none")
    func nothing() {
        let size = PixelSize(width: 9, height: 7)
        let values = (0..<63).map { Float($0 % 5) * 0.1 }
        var map = SubjectMap(
            size: size, confidences: values, classes: [UInt8](repeating: 1, count: 63),
            geometry: FitGeometry(.stretch, picture: size, network: size), cell: 1)
        map.mendOutline(categories: [UInt8](repeating: 0, count: 63), of: size)
        #expect(map.confidences == values)
    }

    @Test(
        "Categories of the picture's size are found where the network's rectangle lies in it", arguments: Fit.allCases)
    func geometry(_ fit: Fit) {
        let network = PixelSize(width: 64, height: 64)
        let picture = PixelSize(width: 640, height: 320)
        let geometry = FitGeometry(fit, picture: picture, network: network)
        // All subject but a hole of background and one of another class, drawn where the network has them.
        var confidences = [Float](repeating: 1, count: 64 * 64)
        var categories = [UInt8](repeating: 15, count: picture.pixelCount)
        for (left, category) in [(20, UInt8(0)), (36, 9)] {
            for y in 28..<36 {
                for x in left..<left + 8 {
                    confidences[y * 64 + x] = 0.01
                    let first = geometry.picturePosition(x: Double(x) - 0.5, y: Double(y) - 0.5)
                    let last = geometry.picturePosition(x: Double(x) + 0.5, y: Double(y) + 0.5)
                    for row in max(0, Int(first.y))...min(319, Int(last.y)) {
                        for column in max(0, Int(first.x))...min(639, Int(last.x)) {
                            categories[row * 640 + column] = category
                        }
                    }
                }
            }
        }
        var map = SubjectMap(
            size: network, confidences: confidences, classes: [UInt8](repeating: 15, count: 64 * 64),
            geometry: geometry, cell: 4)
        map.mendOutline(categories: categories, of: picture)
        #expect(map.confidences[32 * 64 + 24] == 0.01, "the room stays")
        #expect(map.confidences[32 * 64 + 40] == 1, "the other class goes")
    }

    @Test("A stream's edges are made of mended maps, and of the map as it is where that is wanted")
    func stream() {
        let size = PixelSize(width: 64, height: 64)
        var confidences = [Float](repeating: 1, count: size.pixelCount)
        for index in [2080, 2081, 2144, 2145] { confidences[index] = 0 }
        let map = SubjectMap(
            size: size, confidences: confidences, classes: [UInt8](repeating: 1, count: size.pixelCount),
            geometry: FitGeometry(.stretch, picture: size, network: size), cell: 4)
        let picture = Image(size: size, format: .rgb, color: .white)
        let categories = [UInt8](repeating: 0, count: size.pixelCount)
        for isMended in [true, false] {
            var edges = SteadyEdges()
            let guide = edges.guide(
                picture, map, categories: isMended ? (categories, size) : nil, smoothing: 0.6)
            #expect(guide.confidences.contains { $0 < 0.5 } != isMended)
        }
    }
}
