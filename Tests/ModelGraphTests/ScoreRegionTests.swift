import ModelGraph
import TestSupport
import Testing

@Suite("Regions of scores")
struct ScoreRegionTests {
    private let picture: Extent = [48, 64]
    private let input: Extent = [33, 33]
    private let output: Extent = [66, 66]

    @Test("A stretched picture needs none")
    func stretched() {
        #expect(
            ScoreRegion(seen: (0..<48, 0..<64), of: picture, shown: (0..<33, 0..<33), of: input, output: output) == nil)
    }

    @Test("Of a letterboxed picture's input the bars are left out")
    func letterboxed() {
        let region = ScoreRegion(
            seen: (0..<48, 0..<64), of: picture, shown: (4..<29, 0..<33), of: input, output: output)
        #expect(
            region
                == ScoreRegion(
                    rows: .init(source: 8..<58, target: 0..<48), columns: .init(source: 0..<66, target: 0..<64)))
    }

    @Test("A cropped picture shows the whole output in its middle")
    func cropped() {
        let region = ScoreRegion(
            seen: (0..<48, 8..<56), of: picture, shown: (0..<33, 0..<33), of: input, output: output)
        #expect(
            region
                == ScoreRegion(
                    rows: .init(source: 0..<66, target: 0..<48), columns: .init(source: 0..<66, target: 8..<56)))
    }
}
