import SilhouetteCLI
import Testing

@Suite("Benchmark comparison")
struct ComparisonTests {
    private static func summary(_ median: Double, _ halfSpread: Double, _ count: Int) -> LatencySummary {
        LatencySummary(median: median, p25: median - halfSpread, p75: median + halfSpread, count: count)
    }

    @Test(
        "Verdicts",
        arguments: [
            // Clear differences.
            (summary(12, 0.1, 50), summary(10, 0.1, 50), Verdict.slower),
            (summary(8, 0.1, 50), summary(10, 0.1, 50), .faster),
            (summary(10, 0.1, 50), summary(10, 0.1, 50), .same),
            // Clear, but less than 3 per cent.
            (summary(10.2, 0.01, 50), summary(10, 0.01, 50), .same),
            (summary(9.8, 0.01, 50), summary(10, 0.01, 50), .same),
            // More than 3 per cent, but the notches meet: 1.57 x 6 / sqrt(50) = 1.3 on both sides.
            (summary(12, 3, 50), summary(10, 3, 50), .same),
            (summary(8, 3, 50), summary(10, 3, 50), .same),
            // The same spread over many runs says more.
            (summary(12, 3, 5000), summary(10, 3, 5000), .slower),
            // No spread at all.
            (summary(12, 0, 50), summary(10, 0, 50), .slower),
            // Too few.
            (summary(20, 0, 4), summary(10, 0, 50), .tooFewRuns),
            (summary(20, 0, 50), summary(10, 0, 1), .tooFewRuns),
            // A notch that reaches below zero.
            (summary(2, 1.9, 5), summary(1, 0.9, 5), .same),
        ])
    func verdicts(new: LatencySummary, old: LatencySummary, verdict: Verdict) {
        let comparison = Comparison(new, with: old)
        #expect(comparison.verdict == verdict)
        #expect(comparison.ratio == new.median / old.median)
        #expect(comparison.interval.contains(comparison.ratio))
        #expect(comparison.interval.lowerBound > 0 && comparison.interval.upperBound.isFinite)
    }

    private static let steady = [9.5, 9.75, 10, 10.25, 10.5]

    private static func earlier(_ configurations: [BenchConfiguration]) -> EarlierResults {
        EarlierResults(
            name: "old.json", version: "0.0.9", date: "2025-01-01T00:00:00Z", processor: "Old & Slow",
            runs: configurations.map {
                .init(configuration: $0, driver: "portable", summary: LatencySummary(Self.steady))
            })
    }

    @Test("Each run finds its counterpart; what has none is told, on both sides")
    func counterparts() throws {
        let twice = Self.steady.map { $0 * 2 }
        let runs = [1, 4].map { BenchFixtures.run(BenchFixtures.configuration(batch: $0), twice) }
        let comparison = ReportComparison(
            runs, with: Self.earlier([16, 1].map { BenchFixtures.configuration(batch: $0) }))
        #expect(comparison.rows.map { $0.comparison?.verdict } == [.slower, nil])
        #expect(comparison.leftOver.map(\.batch) == [16])
        #expect(comparison.hasSlowerRun)

        var report = BenchFixtures.report(runs)
        report.comparison = comparison
        #expect(report.table.contains("10.00   20.00    2.000"))
        #expect(report.table.contains("no counterpart"))
        #expect(report.table.contains("not run again: fp32, batch 16"))
        #expect(
            report.json.contains("\"verdict\": \"slower\"") && report.json.contains("\"verdict\": \"no counterpart\""))
        #expect(report.page.contains("no counterpart"))
    }

    @Test("Another device is compared where there is no run on this one, and slower than that is no failure")
    func devices() {
        let run = BenchFixtures.run(BenchFixtures.configuration(), Self.steady.map { $0 * 2 })
        let other = BenchFixtures.configuration(device: "Card", threads: 8)
        let comparison = ReportComparison([run], with: Self.earlier([other]))
        #expect(comparison.rows[0].comparison?.verdict == .slower)
        #expect(comparison.rows[0].isAcrossDevices && !comparison.hasSlowerRun)
        #expect(ReportComparison([run], with: Self.earlier([other, run.configuration])).hasSlowerRun)
        for different in [
            BenchFixtures.configuration(model: "x"), BenchFixtures.configuration(input: "x"),
            BenchFixtures.configuration(batch: 2),
        ] {
            #expect(ReportComparison([run], with: Self.earlier([different])).rows[0].comparison == nil)
        }
    }

    @Test("Where the machine was busy, verdicts are doubted", arguments: [(0.1, 0.2), (1.5, 0.1), (0.1, 1.5), (2, 2)])
    func doubt(old: Double, new: Double) {
        var machine = BenchFixtures.machine
        machine.busyProcessorCount = new
        var earlier = Self.earlier([BenchFixtures.configuration()])
        earlier.busyProcessorCount = old
        var report = BenchFixtures.report([BenchFixtures.run(BenchFixtures.configuration(), Self.steady)])
        report.comparison = ReportComparison(report.runs, with: earlier, on: machine)
        #expect(report.table.contains("before the earlier") == (old > 1))
        #expect(report.table.contains("the new runs, so a difference may be the load's") == (new > 1))
        #expect(report.page.contains("may be the load") == (old > 1 || new > 1))
    }

    @Test("What --json prints can be read again")
    func roundTrip() throws {
        let runs = [1, 2].map { BenchFixtures.run(BenchFixtures.configuration(batch: $0), Self.steady) }
        let earlier = try EarlierResults(Array(BenchFixtures.report(runs).json.utf8), name: "x")
        #expect(earlier.runs.map(\.configuration) == runs.map(\.configuration))
        #expect(earlier.runs.map(\.summary) == runs.map { LatencySummary($0.latencies) })
        #expect(earlier.busyProcessorCount == 0.1)
        #expect(earlier.version == "9.9.9" && earlier.processor == "Processor <X> & Co")
    }

    @Test(
        "A broken file, or one of another kind, is one clear line",
        arguments: [
            ("", "x: is not JSON, at byte 0: ends where a value is due"),
            ("{\"machine\": {}, \"results\": [", "x: is not JSON, at byte 28: ends where a value is due"),
            ("[1]", "x: is not what silhouette bench --json prints: it needs \"machine\" and \"results\""),
            (
                "{\"results\": []}",
                "x: is not what silhouette bench --json prints: it needs \"machine\" and \"results\""
            ),
            (
                "{\"machine\": {}, \"results\": [{\"device\": \"cpu\"}]}",
                "x: result 1 is not one of silhouette bench --json: a part is missing or of another kind"
            ),
        ])
    func broken(text: String, message: String) {
        #expect {
            try EarlierResults(Array(text.utf8), name: "x")
        } throws: {
            "\($0)" == message
        }
    }

    @Test("A time of zero or below is no time")
    func zero() {
        let report = BenchFixtures.report([BenchFixtures.run(BenchFixtures.configuration(), [0, 0, 0])])
        #expect(throws: BenchError.self) { try EarlierResults(Array(report.json.utf8), name: "x") }
    }
}
