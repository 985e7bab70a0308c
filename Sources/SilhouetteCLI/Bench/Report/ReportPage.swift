import Silhouette

extension BenchReport {
    /// A page with everything in it: it needs neither scripts nor other files. Well-formed as XML, too.
    package var page: String {
        let title = "silhouette bench: \(runs.first?.configuration.model ?? "no run")"
        let head: [Markup] = [
            .element("meta", ["charset": "utf-8"]),
            .element("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            .element("meta", ["name": "color-scheme", "content": "light dark"]),
            // Nothing is asked for, and nothing could be.
            .element(
                "meta",
                [
                    "http-equiv": "Content-Security-Policy",
                    "content": "default-src 'none'; style-src 'unsafe-inline'",
                ]),
            .element("title", [:], title), .style(ReportStyle.sheet),
        ]
        let body = [
            header, facts, runSection, comparisonSection, throughputSection, latencySection, layerSection, notes,
        ]
        return "<!DOCTYPE html>\n"
            + Markup.element(
                "html", ["lang": "en", "xmlns": "http://www.w3.org/1999/xhtml"],
                [.element("head", [:], head), .element("body", [:], [.element("main", [:], body)])]
            ).source + "\n"
    }

    private var header: Markup {
        guard let configuration = runs.first?.configuration else { return .element("h1", [:], "No run") }
        let best = runs.max { $0.imagesPerSecond < $1.imagesPerSecond } ?? runs[0]
        let quickest = runs.min { Distribution($0.latencies).median < Distribution($1.latencies).median } ?? runs[0]
        let most = runs.map { $0.work.gigaflops(in: Distribution($0.latencies).median) }.max() ?? 0
        func tile(_ value: String, _ unit: String, _ remark: String) -> Markup {
            .element(
                "div", ["class": "tile"],
                [
                    .element("span", ["class": "value"], [Markup(value), .element("small", [:], " \(unit)")]),
                    .element("span", ["class": "soft"], remark),
                ])
        }
        return .element(
            "header", [:],
            [
                .element("p", ["class": "soft kind"], "silhouette bench"),
                .element("h1", [:], configuration.model),
                .element("p", ["class": "device"], "\(configuration.device)"),
                .element(
                    "div", ["class": "tiles"],
                    [
                        tile(
                            decimal(Distribution(quickest.latencies).median, places: 2), "ms",
                            "lowest median latency, \(quickest.configuration.title)"),
                        tile(
                            decimal(best.imagesPerSecond, places: 1), "pictures/s",
                            "highest throughput, \(best.configuration.title)"),
                        tile(decimal(most, places: 1), "GFLOP/s", "highest rate of the whole network"),
                    ]),
            ])
    }

    private var facts: Markup {
        guard let configuration = runs.first?.configuration else { return Markup([]) }
        let scope =
            configuration.scope == .network
            ? "network: normalised floats in memory to the category map"
            : "call: an RGB picture in memory to the category mask at its size"
        let rows =
            [(name: "scope", value: scope), ("input", configuration.input), ("threads", "\(configuration.threads)")]
            + machine.rows
        return section(
            "What was measured, and on what",
            [
                .element(
                    "dl", [:],
                    rows.map { row in
                        .element("div", [:], [.element("dt", [:], row.name), .element("dd", [:], row.value)])
                    }),
                machine.busyWarning.map { .element("p", ["class": "warning"], "Note: \($0).") } ?? Markup([]),
            ])
    }

    private var runSection: Markup {
        section(
            "Runs",
            [
                .element(
                    "p", ["class": "soft"], "Times in milliseconds, of \(runs.first?.latencies.count ?? 0) runs each."),
                runTable,
            ])
    }

    private var comparisonSection: Markup {
        guard let comparison else { return Markup([]) }
        let earlier = comparison.earlier
        var parts: [Markup] = [
            .element(
                "p", ["class": "soft"],
                "With \(earlier.name): \(earlier.date), Silhouette \(earlier.version), \(earlier.processor)."),
            comparison.table,
        ]
        if !comparison.leftOver.isEmpty {
            parts.append(.element("p", ["class": "soft"], "Not run again: \(comparison.leftOverNames)."))
        }
        if let doubt = comparison.doubt { parts.append(.element("p", ["class": "warning"], "Note: \(doubt).")) }
        if let figure = comparison.chart { parts.append(.element("div", ["class": "figures"], [figure])) }
        return section("Comparison", parts)
    }

    private var throughputSection: Markup {
        guard let throughput = SweepChart.throughput(runs) else { return Markup([]) }
        return section(
            "Throughput by batch",
            [
                .element(
                    "div", ["class": "figures"],
                    [throughput.figure] + [SweepChart.latency(runs)?.figure].compactMap(\.self))
            ])
    }

    private var latencySection: Markup {
        section(
            "Latency distribution",
            [.element("div", ["class": "figures"], runs.map { DistributionChart(run: $0).figure })])
    }

    private var layerSection: Markup {
        let profiled = runs.filter { !$0.layers.isEmpty }
        guard !profiled.isEmpty else { return Markup([]) }
        let figures = profiled.compactMap { LayerChart(run: $0).figure }
        let charts =
            figures.isEmpty
            ? Markup.element("p", [:], "The device takes no time stamps: what a layer takes is not known.")
            : .element("div", ["class": "figures"], figures)
        return section(
            "Time by layer",
            [charts]
                + profiled.map { run in
                    .element(
                        "details", [:],
                        [
                            .element("summary", [:], "All \(run.layers.count) layers, \(run.configuration.title)"),
                            Self.layerTable(run),
                        ])
                })
    }

    private var notes: Markup {
        var notes = [
            ("images/s", "batch size over the median latency"),
            ("GFLOP/s", "2 \u{00D7} the multiply-adds of the convolutions, over the median latency"),
            ("GB/s", "what all layers read and write, weights included, over the median latency"),
            ("first run", "from reading the model file to the first result, all preparation included"),
            (
                "chart of latencies",
                "the box is the middle half, the line through it the median, whiskers reach from the shortest run to that which 95 of 100 stay below"
            ),
        ]
        if runs.contains(where: { !$0.deviceTimes.isEmpty }) {
            notes.append(("on device", "median of the time that the device counted itself, copies included"))
        }
        if runs.contains(where: { !$0.layers.isEmpty }) { notes.append(("floor", floorExplanation)) }
        if comparison != nil { notes.append(("verdict", ReportComparison.explanation)) }
        return section(
            "How to read this",
            [
                .element(
                    "dl", ["class": "notes"],
                    notes.map { .element("div", [:], [.element("dt", [:], $0.0), .element("dd", [:], $0.1)]) })
            ])
    }

    private func section(_ title: String, _ parts: [Markup]) -> Markup {
        .element("section", [:], [.element("h2", [:], title)] + parts)
    }
}

extension ReportComparison {
    fileprivate var chart: Markup? { ComparisonChart(comparison: self).figure }
}
