import Silhouette

extension BenchReport {
    /// A row for each run, and one for each that could not be done, in its place.
    var runTable: Markup {
        let hasDeviceTimes = runs.contains { !$0.deviceTimes.isEmpty }
        let heads =
            ["precision", "batch", "median", "min", "p25", "p75", "p95", "p99", "max"]
            + (hasDeviceTimes ? ["on device"] : []) + ["images/s", "GFLOP/s", "GB/s", "first run", "memory"]
        return Self.table(
            heads, textColumns: [0],
            outcomes.map { outcome in
                switch outcome {
                case .run(let run): return Self.row(run, hasDeviceTimes)
                case .failure(let failure):
                    return .element(
                        "tr", [:],
                        [
                            .element("th", ["scope": "row"], failure.precision.rawValue),
                            .element("td", [:], "\(failure.batch)"),
                            .element(
                                "td", ["colspan": "\(heads.count - 2)", "class": "text bad"],
                                "could not be done: \(failure.reason)"),
                        ])
                }
            })
    }

    private static func row(_ run: BenchRun, _ hasDeviceTimes: Bool) -> Markup {
        let latency = Distribution(run.latencies)
        func ms(_ value: Double) -> String { decimal(value, places: 2) }
        let device = run.deviceTimes.isEmpty ? "\u{2013}" : ms(Distribution(run.deviceTimes).median)
        let times = [latency.median, latency.min, latency.p25, latency.p75, latency.p95, latency.p99, latency.max]
        let cells =
            ["\(run.configuration.batch)"] + times.map(ms) + (hasDeviceTimes ? [device] : []) + [
                decimal(run.imagesPerSecond, places: 1), decimal(run.work.gigaflops(in: latency.median), places: 1),
                decimal(run.work.gigabytesPerSecond(in: latency.median), places: 1), ms(run.firstRunMilliseconds),
                decimal(Double(run.peakResidentByteCount) / 1_048_576, places: 1) + " MiB",
            ]
        return .element(
            "tr", [:],
            [.element("th", ["scope": "row"], run.configuration.precision.rawValue)]
                + cells.enumerated().map { .element("td", ["class": $0.offset == 1 ? "main" : ""], $0.element) })
    }

    /// A row for each layer, in the order in which they run.
    static func layerTable(_ run: BenchRun) -> Markup {
        func number(_ value: Double?, _ places: Int, _ unit: String = "") -> String {
            value.flatMap { $0.isFinite ? decimal($0, places: places) + unit : nil } ?? "\u{2013}"
        }
        let sum = run.layerSum
        return table(
            ["#", "operator", "ms", "share", "GFLOP/s", "GB/s", "floor, ms", "\u{00D7} floor", "layer"],
            textColumns: [1, 8],
            run.layers.enumerated().map { index, layer in
                let time = layer.milliseconds
                let gigaflops = layer.work.flatMap { $0.operationCount > 0 ? $0.gigaflops(in: time) : nil }
                let cells = [
                    ("\(index)", false), (layer.operation, true), (number(time, 3), false),
                    (number(time / sum * 100, 1, " %"), false), (number(gigaflops, 1), false),
                    (number(layer.work?.gigabytesPerSecond(in: time), 1), false),
                    (number(layer.floorMilliseconds, 3), false),
                    (number(layer.floorMilliseconds.map { time / $0 }, 1), false), (layer.name, true),
                ]
                return .element(
                    "tr", [:], cells.map { .element("td", ["class": $0.1 ? "text" : ""], $0.0) })
            })
    }

    static func table(_ heads: [String], textColumns: Set<Int>, _ rows: [Markup]) -> Markup {
        .element(
            "div", ["class": "scroll", "tabindex": "0", "role": "group", "aria-label": "table"],
            [
                .element(
                    "table", [:],
                    [
                        .element(
                            "thead", [:],
                            [
                                .element(
                                    "tr", [:],
                                    heads.enumerated().map { index, head in
                                        .element(
                                            "th",
                                            ["scope": "col", "class": textColumns.contains(index) ? "text" : ""], head)
                                    })
                            ]), .element("tbody", [:], rows),
                    ])
            ])
    }
}
