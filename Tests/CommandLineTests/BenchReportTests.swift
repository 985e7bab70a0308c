import Foundation
import SilhouetteCLI
import Testing

@Suite("Benchmark report")
struct BenchReportTests {
    @Test("Quantiles are those of numpy.percentile")
    func distribution() {
        let distribution = Distribution([4, 1, 3, 2, 5].map { Double($0) })
        #expect(distribution.min == 1 && distribution.max == 5 && distribution.median == 3)
        #expect(distribution.p25 == 2 && distribution.p75 == 4)
        #expect(abs(distribution.p95 - 4.8) < 1e-12)
        #expect(abs(distribution.p99 - 4.96) < 1e-12)
        #expect(Distribution([2]).p99 == 2)
        #expect(Distribution([1, 2]).median == 1.5)
    }

    private let report = BenchFixtures.report([
        BenchFixtures.run(
            BenchFixtures.configuration(model: "tiny \"quoted\"\n", batch: 2), [2, 1, 4], layers: BenchFixtures.layers)
    ])

    private func object(_ report: BenchReport) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
    }

    @Test("The JSON document has the agreed keys and values")
    func json() throws {
        let document = try object(report)
        #expect(Set(document.keys) == ["machine", "results", "failures"])
        let result = try #require((document["results"] as? [[String: Any]])?.first)
        #expect(result["model"] as? String == "tiny \"quoted\"\n")
        #expect(result["device"] as? String == "cpu (portable, 1 thread)")
        #expect(result["driver"] as? String == "portable")
        #expect(result["precision"] as? String == "fp32")
        #expect(result["batch"] as? Int == 2)
        #expect(result["threads"] as? Int == 1)
        #expect(result["scope"] as? String == "network")
        #expect(result["iterations"] as? Int == 3)
        #expect(result["images_per_second"] as? Double == 1000)
        #expect(result["gflops"] as? Double == 2)
        #expect(result["gb_per_second"] as? Double == 0.5)
        #expect(result["first_run_ms"] as? Double == 30.25)
        #expect(result["peak_rss_bytes"] as? Int == 3 << 20)
        #expect(result["device_ms"] is NSNull)
        #expect(result["latencies_ms"] as? [Double] == [2, 1, 4])
        let latency = try #require(result["latency_ms"] as? [String: Double])
        #expect(Set(latency.keys) == ["min", "p25", "median", "p75", "p95", "p99", "max"])
        #expect(latency["median"] == 2 && latency["p25"] == 1.5 && latency["p75"] == 3)
        let layers = try #require(result["layers"] as? [[String: Any]])
        #expect(layers[0]["name"] as? String == "stem")
        #expect(layers[0]["op"] as? String == "conv2d 3x3")
        #expect(layers[0]["ms"] as? Double == 1.5)
        #expect(layers[0]["share"] as? Double == 0.5)
        #expect(layers[0]["gflops"] as? Double == 2)
        #expect(layers[0]["floor_ms"] as? Double == 0.75)
        #expect(layers[1]["floor_ms"] as? Double == 0.4)
        #expect(layers[2]["floor_ms"] is NSNull)
        let rates = try #require(result["best_rates"] as? [String: Double])
        #expect(rates == ["gflops": 4, "gb_per_second": 2, "gb_per_second_of_bytes": 3_200_000])
    }

    @Test("The facts of the machine are in the document")
    func machine() throws {
        let machine = try #require(try object(report)["machine"] as? [String: Any])
        #expect(machine["silhouette"] as? String == "9.9.9")
        #expect(machine["date"] as? String == "2026-01-02T03:04:05Z")
        #expect(machine["cpu"] as? String == "Processor <X> & Co")
        #expect(machine["processors"] as? Int == 2)
        #expect(machine["clock_mhz"] as? Double == 2400)
        #expect(machine["greatest_clock_mhz"] is NSNull && machine["vulkan"] is NSNull)
        #expect(machine["load_average"] as? Double == 0.25)
    }

    @Test("No more than 10,000 latencies are listed")
    func manyLatencies() throws {
        let run = BenchFixtures.run(BenchFixtures.configuration(), (0..<25_000).map { Double($0 + 1) })
        let result = try #require((try object(BenchFixtures.report([run]))["results"] as? [[String: Any]])?.first)
        #expect(result["iterations"] as? Int == 25_000)
        #expect((result["latencies_ms"] as? [Double])?.count == 8334)
    }

    @Test("The table names every figure")
    func table() {
        let parts = [
            "median 2.00 ms of 3 runs", "max 4.00 ms", "1000.0", "2.0 GFLOP/s, 0.5 GB/s", "30.25 ms", "3.0 MiB",
            "1.500", "50.0 %", "0.750", "conv2d 3x3", "Processor <X> & Co",
            "best rates: 4.0 GFLOP/s, 2.0 GB/s (of 3.2 MB)",
        ]
        for part in parts { #expect(report.table.contains(part), "\(part) is missing in\n\(report.table)") }
        #expect(report.table.split(separator: "\n").allSatisfy { $0.last != " " })
    }

    @Test("In a sweep, what could not be done stands in its place")
    func sweep() throws {
        var report = BenchFixtures.report(
            [1, 16].map { BenchFixtures.run(BenchFixtures.configuration(batch: $0), [2, 1, 4]) })
        report.outcomes.insert(
            .failure(BenchFailure(precision: .float32, batch: 4, reason: "no memory")), at: 1)
        let lines = report.table.split(separator: "\n").filter { $0.hasPrefix("fp32") }
        try #require(lines.count == 3)
        #expect(lines[0].hasPrefix("fp32           1       2.00"))
        #expect(lines[1] == "fp32           4  could not be done: no memory")
        #expect(lines[2].hasPrefix("fp32          16       2.00"))
        let failures = try #require(try object(report)["failures"] as? [[String: Any]])
        #expect(failures.count == 1 && failures[0]["batch"] as? Int == 4)
        #expect(failures[0]["error"] as? String == "no memory")
        #expect(report.page.contains("could not be done: no memory"))
    }

    @Test("No layer of some weight is faster than its floor: a rate that was reached can be reached")
    func floors() throws {
        var layers = BenchFixtures.layers
        layers[0].milliseconds = 0.1  // 30 GFLOP/s and 4 GB/s, more than was measured
        let report = BenchFixtures.report([BenchFixtures.run(BenchFixtures.configuration(), [2], layers: layers)])
        let run = report.runs[0]
        #expect(run.rates == DeviceRates(gigaflops: 30, gigabytesPerSecond: 4, movedByteCount: 400_000))
        #expect(abs(try #require(run.layers[0].floorMilliseconds) - 0.1) < 1e-9)
        #expect(abs(try #require(run.layers[1].floorMilliseconds) - 0.2) < 1e-9)
    }

    @Test("A device without a clock has layers without times, and nothing is made of them")
    func noClock() throws {
        var layers = BenchFixtures.layers
        for index in 0..<2 { layers[index].milliseconds = .nan }
        var run = BenchFixtures.run(BenchFixtures.configuration(), [2], layers: layers)
        run.rates = DeviceRates(gigaflops: 0, gigabytesPerSecond: 0)
        let report = BenchFixtures.report([run])
        let result = try #require((try object(report)["results"] as? [[String: Any]])?.first)
        #expect((result["layers"] as? [[String: Any]])?[0]["ms"] is NSNull)
        for text in [report.json, report.table, report.page] {
            #expect(!text.lowercased().contains("nan") && !text.contains(" inf"))
        }
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
