/// How long the runs of a benchmark took: a histogram, and above it a box from quarter to quarter.
struct DistributionChart {
    let run: BenchRun

    private let width = 440.0, height = 214.0
    private let left = 34.0, right = 428.0, top = 52.0, bottom = 172.0

    var figure: Markup {
        let latency = Distribution(run.latencies)
        let shown = shownRange(latency)
        let horizontal = Axis(shown, from: left, to: right, count: 6)
        let inside = run.latencies.filter { shown.contains($0) }
        let bins = histogram(inside, horizontal.range)
        let vertical = Axis(
            0...Double(max(1, bins.max() ?? 1)), from: bottom, to: top, count: bins.max() ?? 1 < 4 ? 1 : 4,
            extends: true)
        let binWidth = (right - left) / Double(bins.count)

        var parts = vertical.left(left: left, right: right, title: "runs")
        parts += horizontal.bottom(top: bottom, bottom: bottom, title: "latency, ms")
        for (index, count) in bins.enumerated() where count > 0 {
            let height = bottom - vertical.place(of: Double(count))
            parts.append(
                box(left + Double(index) * binWidth + 0.5, bottom - height, binWidth - 1, height, class: "bar"))
        }
        parts += boxPlot(latency, horizontal)
        let beyond = run.latencies.count - inside.count
        var caption =
            "Median \(decimal(latency.median, places: 2)) ms, the middle half from "
            + "\(decimal(latency.p25, places: 2)) to \(decimal(latency.p75, places: 2)) ms, "
            + "99 of 100 below \(decimal(latency.p99, places: 2)) ms."
        if beyond > 0 {
            caption +=
                " \(beyond) run\(beyond == 1 ? "" : "s") beyond the chart, "
                + "the longest \(decimal(latency.max, places: 2)) ms."
        }
        return .element(
            "figure", [:],
            [
                .element("h3", [:], run.configuration.title),
                drawing(
                    width: width, height: height, title: "Latency distribution, \(run.configuration.title). \(caption)",
                    parts),
                .element("figcaption", [:], caption),
            ])
    }

    /// All, unless a few are so far off that the others would be one line.
    private func shownRange(_ latency: Distribution) -> ClosedRange<Double> {
        let limit = latency.p75 + 6 * max(latency.p75 - latency.p25, latency.median * 0.01)
        guard latency.max > limit else { return latency.min...latency.max }
        return latency.min...max(limit, latency.median)
    }

    /// How many values lie in each of some bins of equal width.
    private func histogram(_ values: [Double], _ range: ClosedRange<Double>) -> [Int] {
        // About as many as the square root says, few enough to be seen.
        let count = min(40, max(8, Int(2 * Double(values.count).squareRoot())))
        var bins = [Int](repeating: 0, count: count)
        let width = (range.upperBound - range.lowerBound) / Double(count)
        for value in values { bins[min(count - 1, max(0, Int((value - range.lowerBound) / width)))] += 1 }
        return bins
    }

    /// The smallest, both quarters, the median, and 95 of 100.
    private func boxPlot(_ latency: Distribution, _ axis: Axis) -> [Markup] {
        func x(_ value: Double) -> Double { axis.place(of: min(value, axis.range.upperBound)) }
        let middle = 37.0
        let median = x(latency.median)
        return [
            line(x(latency.min), middle, x(latency.p95), middle, class: "whisker"),
            line(x(latency.min), middle - 4, x(latency.min), middle + 4, class: "whisker"),
            line(x(latency.p95), middle - 4, x(latency.p95), middle + 4, class: "whisker"),
            box(x(latency.p25), middle - 6, max(1, x(latency.p75) - x(latency.p25)), 12, class: "box", radius: 2),
            line(median, middle - 8, median, bottom, class: "median"),
            label(
                "median \(decimal(latency.median, places: 2)) ms", min(max(median, left + 70), right - 60), 20,
                anchor: "middle", bold: true),
        ]
    }
}
