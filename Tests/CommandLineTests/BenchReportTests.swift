import Foundation
import SilhouetteCLI
import Testing

@Suite("Benchmark report")
struct BenchReportTests {
    @Test("Quantiles are those of numpy.percentile")
    func distribution() {
        let distribution = Distribution([4, 1, 3, 2, 5].map { Double($0) })
        #expect(distribution.min == 1 && distribution.max == 5 && distribution.median == 3)
        #expect(abs(distribution.p95 - 4.8) < 1e-12)
        #expect(abs(distribution.p99 - 4.96) < 1e-12)
        #expect(Distribution([2]).p99 == 2)
        #expect(Distribution([1, 2]).median == 1.5)
    }

    private let report = BenchReport(
        model: "tiny \"quoted\"\n", device: "cpu (portable, 1 thread)", driver: "portable", precision: .float32,
        batch: 2,
        threads: 1, scope: .network, input: "noise", latencies: [2, 1, 4], firstRunMilliseconds: 30.25,
        peakResidentByteCount: 3 << 20, layers: [.init(name: "stem", operation: "conv2d", milliseconds: 1.5)])

    @Test("The JSON document has the agreed keys and values")
    func json() throws {
        let document = try #require(
            JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: [[String: Any]]])
        let result = try #require(document["results"]?.first)
        #expect(result["model"] as? String == "tiny \"quoted\"\n")
        #expect(result["device"] as? String == "cpu (portable, 1 thread)")
        #expect(result["driver"] as? String == "portable")
        #expect(result["precision"] as? String == "fp32")
        #expect(result["batch"] as? Int == 2)
        #expect(result["threads"] as? Int == 1)
        #expect(result["scope"] as? String == "network")
        #expect(result["images_per_second"] as? Double == 1000)
        #expect(result["first_run_ms"] as? Double == 30.25)
        #expect(result["peak_rss_bytes"] as? Int == 3 << 20)
        let latency = try #require(result["latency_ms"] as? [String: Double])
        #expect(Set(latency.keys) == ["min", "median", "p95", "p99", "max"])
        #expect(latency["median"] == 2)
        let layer = try #require((result["layers"] as? [[String: Any]])?.first)
        #expect(layer["name"] as? String == "stem")
        #expect(layer["op"] as? String == "conv2d")
        #expect(layer["ms"] as? Double == 1.5)
    }

    @Test("The table names every figure")
    func table() {
        for part in ["median 2.00 ms of 3 runs", "max 4.00 ms", "1000.0", "30.25 ms", "3.0 MiB", "1.500 ms", "conv2d"] {
            #expect(report.table.contains(part), "\(part) is missing in\n\(report.table)")
        }
        #expect(report.table.split(separator: "\n").allSatisfy { $0.last != " " })
    }

    @Test(
        "Numbers with a fixed count of places",
        arguments: [
            (1.005, 1, "1.0"), (0.06, 1, "0.1"), (-0.04, 1, "0.0"), (-2.25, 2, "-2.25"), (12, 0, "12"),
            (9.999, 2, "10.00"),
        ])
    func decimals(value: Double, places: Int, text: String) {
        #expect(decimal(value, places: places) == text)
    }
}
