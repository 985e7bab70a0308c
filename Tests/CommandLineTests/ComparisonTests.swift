import ModelGraph
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

    @Test("Where the old notch reaches zero there is no upper bound")
    func upperBound() {
        #expect(Comparison(Self.summary(10, 1, 9), with: Self.summary(10, 1, 9)).upperBoundText.hasPrefix("1."))
        #expect(Comparison(Self.summary(10, 1, 9), with: Self.summary(10, 60, 9)).upperBoundText == "more")
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

    @Test("Without a run on this device, each other device of the file is compared with")
    func allDevices() throws {
        let run = BenchFixtures.run(BenchFixtures.configuration(), Self.steady)
        let others = ["Card A", "Card B", "Card B"].map { BenchFixtures.configuration(device: $0) }
        var report = BenchFixtures.report([run])
        report.comparison = ReportComparison(
            [run], with: Self.earlier(others + [BenchFixtures.configuration(device: "Card C", batch: 2)]))
        #expect(report.comparison?.rows.compactMap { $0.counterpart?.configuration.device } == others.map(\.device))
        for text in ["beside Card A, 1 thread", "beside Card B, 1 thread", "batch 2 on Card C, 1 thread"] {
            #expect(report.table.contains(text), "\(report.table)")
        }
    }

    @Test("Models are told apart by their weights where both sides know them, else by name")
    func weights() {
        func isFound(_ new: (String, String?), _ old: (String, String?)) -> Bool {
            let run = BenchFixtures.run(BenchFixtures.configuration(model: new.0, weights: new.1), Self.steady)
            let earlier = Self.earlier([BenchFixtures.configuration(model: old.0, weights: old.1)])
            return ReportComparison([run], with: earlier).rows[0].counterpart != nil
        }
        #expect(isFound(("a", "1"), ("a", "1")) && isFound(("a", "1"), ("b", "1")))
        #expect(!isFound(("a", "1"), ("a", "2")) && !isFound(("a", nil), ("b", nil)))
        #expect(isFound(("a", nil), ("a", "1")) && isFound(("a", "1"), ("a", nil)) && !isFound(("a", nil), ("b", "1")))
        // The right one of two that have the same name.
        let pair = ["1", "2"].map { BenchFixtures.configuration(weights: $0) }
        let comparison = ReportComparison([BenchFixtures.run(pair[1], Self.steady)], with: Self.earlier(pair))
        #expect(comparison.rows.map { $0.counterpart?.configuration } == [pair[1]])
    }

    @Test("A digest is that of all weights and biases")
    func digest() throws {
        func digest(_ weights: [Float], _ bias: [Float]?) throws -> String {
            var graph = Graph(name: "x")
            let input = graph.addInput("x", Shape(height: 1, width: 1, channels: 2))
            graph.outputs = [
                try graph.append(
                    "c",
                    .convolution(
                        Convolution(
                            weights: Weights(shape: [1, 2, 1, 1], values: weights),
                            bias: bias.map { Weights(shape: [1], values: $0) })), [input])
            ]
            return graph.weightsDigest
        }
        let digests = try [
            digest([1, 2], [3]), digest([2, 1], [3]), digest([1, 2], [2]), digest([1, 2], nil), digest([-1, 2], [3]),
        ]
        #expect(Set(digests).count == digests.count && digests.allSatisfy { $0.count == 16 })
        #expect(try digest([1, 2], [3]) == digests[0])
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
        let runs = [1, 2].map {
            BenchFixtures.run(BenchFixtures.configuration(weights: "00c0ffee", batch: $0), Self.steady)
        }
        let earlier = try EarlierResults(Array(BenchFixtures.report(runs).json.utf8), name: "x")
        #expect(earlier.runs.map(\.configuration) == runs.map(\.configuration))
        #expect(earlier.runs[0].configuration.weightsDigest == "00c0ffee")
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
                "x: result 1 is not one of silhouette bench --json: a part is missing, of another kind or impossible"
            ),
        ])
    func broken(text: String, message: String) {
        #expect {
            try EarlierResults(Array(text.utf8), name: "x")
        } throws: {
            "\($0)" == message
        }
    }

    private static func result(_ changes: [String: String] = [:]) -> String {
        var members = [
            "model": "\"tiny\"", "device": "\"cpu (portable, 1 thread)\"", "precision": "\"fp32\"", "batch": "1",
            "threads": "1", "scope": "\"network\"", "input": "\"noise\"", "iterations": "50", "median": "10",
            "p25": "9",
            "p75": "11",
        ]
        members.merge(changes) { $1 }
        let text = members.map { "\"\($0)\": \($1)" }.joined(separator: ", ")
        let latencies = ["median", "p25", "p75"].map { "\"\($0)\": \(members[$0]!)" }.joined(separator: ", ")
        return "{\(text), \"latency_ms\": {\(latencies)}}"
    }

    private static func file(_ results: [String], machine: String = "") -> [UInt8] {
        Array("{\"machine\": {\(machine)}, \"results\": [\(results.joined(separator: ", "))]}".utf8)
    }

    @Test(
        "Figures that cannot be are refused",
        arguments: [
            ["median": "0", "p25": "0"], ["median": "-1", "p25": "-2"], ["p25": "-0.5"], ["p25": "12"], ["p75": "9.5"],
            ["median": "1e-300", "p25": "0"], ["p75": "1e300"], ["median": "1e12", "p75": "1e12"],
            ["median": "\"NaN\""], ["median": "null"], ["batch": "0"], ["batch": "257"], ["batch": "1.5"],
            ["threads": "-1"], ["threads": "0"], ["threads": "1e15"], ["iterations": "0"], ["iterations": "1e9"],
            ["precision": "\"fp8\""], ["scope": "\"all\""],
        ])
    func impossible(changes: [String: String]) throws {
        #expect(throws: Never.self) { try EarlierResults(Self.file([Self.result()]), name: "x") }
        #expect {
            try EarlierResults(Self.file([Self.result(), Self.result(changes)]), name: "x")
        } throws: {
            "\($0)".hasPrefix("x: result 2 is not one of silhouette bench --json") && !"\($0)".contains("\n")
        }
    }

    @Test("Numbers that JSON does not have, and more results than there can be", arguments: ["NaN", "inf", "1e999"])
    func numbers(number: String) {
        #expect(throws: BenchError.self) {
            try EarlierResults(Self.file([Self.result(["median": number])]), name: "x")
        }
        #expect(throws: BenchError.self) {
            try EarlierResults(Self.file([String](repeating: Self.result(), count: 1001)), name: "x")
        }
    }

    @Test("Whatever a file's texts hold, the comparison stays readable")
    func hostileTexts() throws {
        let hostile = "\u{202E}\u{2067}\u{1B}[31m\n\u{2028}" + String(repeating: "long ", count: 10_000)
        let text = "\"\(hostile.replacing("\n", with: "\\n").replacing("\u{1B}", with: "\\u001b"))\""
        let earlier = try EarlierResults(
            Self.file(
                [Self.result(["device": text]), Self.result(["device": text, "batch": "2"])],
                machine: ["date", "silhouette", "cpu"].map { "\"\($0)\": \(text)" }.joined(separator: ", ")),
            name: "x")
        var report = BenchFixtures.report([BenchFixtures.run(BenchFixtures.configuration(), Self.steady)])
        report.comparison = ReportComparison(report.runs, with: earlier)
        #expect(report.comparison?.rows.first?.isAcrossDevices == true)
        for text in [report.table, report.page] {
            #expect(
                text.utf8.count < 40_000
                    && !text.contains(
                        "long long long long long long long long long long"
                            + " long long long long long long long long")
            )
            #expect(text.contains("\\u{202e}\\u{2067}\\u{1b}[31m\\u{a}\\u{2028}long"))
            #expect(!text.unicodeScalars.contains { ["\u{202E}", "\u{2067}", "\u{1B}", "\u{2028}"].contains($0) })
        }
    }

    @Test("A time of zero or below is no time")
    func zero() {
        let report = BenchFixtures.report([BenchFixtures.run(BenchFixtures.configuration(), [0, 0, 0])])
        #expect(throws: BenchError.self) { try EarlierResults(Array(report.json.utf8), name: "x") }
    }
}
