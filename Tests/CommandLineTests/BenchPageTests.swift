import Foundation
import FoundationXML
import SilhouetteCLI
import Testing

@Suite("Benchmark page")
struct BenchPageTests {
    /// Names that would break a page which does not escape them.
    private static let wild = "<script>alert(\"1\")</script> & 'b'\u{0}\u{1B}\u{7F}\u{FFFF} 写真"

    private static var fullReport: BenchReport {
        var layers = BenchFixtures.layers
        for index in 0..<40 {
            layers.append(
                LayerTime(
                    name: "MobilenetV2/block_\(index)/\(wild)", operation: "conv2d 1x1",
                    milliseconds: 0.01 * Double(index), work: Work(operationCount: 40_000, byteCount: 4_000)))
        }
        let runs = [1, 4, 16].map { batch in
            BenchFixtures.run(
                BenchFixtures.configuration(model: wild, device: wild, batch: batch, input: wild),
                (0..<60).map { Double(batch) * (10 + Double($0 % 7)) }, layers: layers)
        }
        var report = BenchFixtures.report(runs)
        report.machine.busyProcessorCount = 1.5
        report.outcomes.append(.failure(BenchFailure(precision: .float16, batch: 1, reason: wild)))
        report.comparison = ReportComparison(
            runs,
            with: EarlierResults(
                name: wild, version: wild, date: wild, processor: wild,
                runs: [1, 2].map {
                    .init(
                        configuration: BenchFixtures.configuration(model: wild, device: "old", batch: $0, input: wild),
                        driver: wild, summary: LatencySummary(median: 5, p25: 4, p75: 6, count: 50))
                }))
        return report
    }

    @Test("The page is well-formed, says all that it should, and asks for nothing outside")
    func wellFormed() throws {
        let page = Self.fullReport.page
        let reader = PageReader()
        let parser = XMLParser(data: Data(page.utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "")")
        // Two of the sweep, three of latencies, three of layers, one of the comparison.
        #expect(reader.counts["svg"] == 9)
        #expect(reader.counts["script"] == nil && reader.counts["link"] == nil && reader.counts["img"] == nil)
        #expect(!reader.attributes.contains { ["src", "href", "style"].contains($0.name) || $0.name.hasPrefix("on") })
        #expect(
            reader.attributes.filter { $0.value.contains("://") }.allSatisfy { $0.name == "xmlns" })
        #expect(!page.contains("url(") && !page.contains("@import"))
        for text in [
            "<script>alert(\"1\")</script> & 'b'\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD} 写真", "the other 23 layers together",
            "pictures a second", "latency, ms", "median time, ms", "new median over old median",
            "Note: the machine is busy",
            "Not run again: fp32, batch 2",
        ] {
            #expect(reader.text.contains(text), "\(text)")
        }
        // SVG's titles are for those who do not see the drawings.
        #expect(reader.titlesInDrawings >= 9)
    }

    @Test("No figure is without value, and no place in a drawing outside of it")
    func numbers() throws {
        let reader = PageReader()
        let parser = XMLParser(data: Data(Self.fullReport.page.utf8))
        parser.delegate = reader
        try #require(parser.parse())
        let names: Set = ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "width", "height"]
        for attribute in reader.attributes where names.contains(attribute.name) {
            let value = try #require(Double(attribute.value), "\(attribute)")
            #expect(value >= 0 && value < 1000, "\(attribute)")
        }
        #expect(!reader.text.contains("nan") && !reader.text.contains(" inf"))
    }

    @Test(
        "The number of a point stands where no line goes",
        arguments: [
            // Heights in the drawing, downwards, 100 apart; which point; above in a chart of one line; then the side.
            ([50.0, 50, 50], 1, true, true, "middle"), ([50, 40, 30], 1, true, true, "middle"),
            ([200, 100, 0], 0, true, true, "end"), ([200, 100, 0], 1, true, true, "end"),
            ([200, 100, 0], 2, true, true, "middle"), ([0, 100, 200], 1, true, true, "start"),
            ([0, 100, 0], 1, true, false, "middle"), ([200, 100, 200], 1, true, true, "middle"),
            ([200, 100, 0], 1, false, false, "start"), ([0, 100, 200], 1, false, false, "end"),
        ])
    func labels(heights: [Double], index: Int, isAbove: Bool, staysAbove: Bool, anchor: String) {
        let places = heights.enumerated().map { (x: Double($0.offset) * 100, y: $0.element) }
        let side = LabelSide(places, index, isAbove: isAbove, isAlone: true)
        #expect(side.isAbove == staysAbove && side.anchor == anchor)
    }

    @Test("One run, one latency: a page without empty sections")
    func smallest() throws {
        let page = BenchFixtures.report([BenchFixtures.run(BenchFixtures.configuration(), [2])]).page
        #expect(XMLParser(data: Data(page.utf8)).parse())
        #expect(
            !page.contains("Throughput by batch") && !page.contains("Time by layer") && !page.contains("Comparison"))
        #expect(!page.lowercased().contains(">nan"))
    }

    @Test(
        "Axes mark round numbers",
        arguments: [
            (0.0...10.0, 5, false, ["0", "2", "4", "6", "8", "10"]),
            (0...0.0034, 4, true, ["0.000", "0.001", "0.002", "0.003", "0.004"]),
            (98.2...104.1, 6, false, ["99", "100", "101", "102", "103", "104"]), (0...1, 1, true, ["0", "1"]),
            (0...61_000, 4, true, ["0", "20000", "40000", "60000", "80000"]),
        ])
    func ticks(range: ClosedRange<Double>, count: Int, extends: Bool, expected: [String]) {
        let axis = Axis(range, from: 0, to: 100, count: count, extends: extends)
        #expect(axis.ticks.map(axis.text) == expected)
        #expect(axis.ticks.allSatisfy { (-0.001...100.001).contains(axis.place(of: $0)) })
    }

    @Test(
        "An axis of equal or impossible numbers still has places",
        arguments: [5.0...5.0, 0...0, 1e-12...1e-12, 0...Double.infinity])
    func degenerateAxis(range: ClosedRange<Double>) {
        let axis = Axis(range, from: 0, to: 100, count: 5)
        #expect(axis.place(of: axis.range.lowerBound) == 0 && axis.place(of: axis.range.upperBound) == 100)
        #expect(axis.ticks.count <= 12)
    }
}

/// Collects what an XML parser sees.
private final class PageReader: NSObject, XMLParserDelegate {
    var counts: [String: Int] = [:]
    var attributes: [(name: String, value: String)] = []
    var text = ""
    var titlesInDrawings = 0
    private var drawings = 0

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName qName: String?, attributes attributeDict: [String: String] = [:]
    ) {
        counts[elementName, default: 0] += 1
        attributes += attributeDict.map { ($0.key, $0.value) }
        if elementName == "svg" { drawings += 1 }
        if elementName == "title", drawings > 0 { titlesInDrawings += 1 }
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
        if elementName == "svg" { drawings -= 1 }
        text += " "
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}
