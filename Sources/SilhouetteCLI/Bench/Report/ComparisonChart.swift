/// New medians over old ones, with the interval in which the ratio may lie.
struct ComparisonChart {
    let comparison: ReportComparison

    private let width = 440.0
    private let left = 8.0, right = 430.0, top = 22.0, pitch = 38.0

    /// Nil where no run has a counterpart.
    var figure: Markup? {
        let rows = comparison.rows.compactMap { row in row.comparison.map { (row.configuration, $0) } }
        guard let least = rows.map(\.1.interval.lowerBound).min(), let most = rows.map(\.1.interval.upperBound).max()
        else { return nil }
        // A few noisy runs must not make all others a dot.
        let axis = Axis(
            max(0, min(0.9, least))...min(max(1.1, most), max(1.1, rows.map(\.1.ratio).max() ?? 1) * 1.5), from: left,
            to: right, count: 5)
        let bottom = top + Double(rows.count) * pitch
        func x(_ value: Double) -> Double {
            axis.place(of: min(max(value, axis.range.lowerBound), axis.range.upperBound))
        }
        let band = Comparison.leastDifference
        var parts = axis.bottom(top: bottom, bottom: bottom, title: "new median over old median")
        // Both words stay inside the drawing.
        let words = min(max(x(1), left + 62), right - 62)
        parts += [
            label("\u{2190} faster", words - 8, 13, anchor: "end", class: "soft"),
            label("slower \u{2192}", words + 8, 13, class: "soft"),
        ]
        for (index, (configuration, comparison)) in rows.enumerated() {
            let middle = top + Double(index) * pitch + 27
            let style = comparison.verdict.style
            // The scale goes on beside each dot, not through the words above it.
            let (over, under) = (middle - 8, min(middle + 8, bottom))
            parts.append(box(x(1 - band), over, x(1 + band) - x(1 - band), under - over, class: "band"))
            parts += axis.ticks.map { line(axis.place(of: $0), over, axis.place(of: $0), under, class: "grid") }
            parts.append(line(x(1), over, x(1), under, class: "median"))
            parts += [
                label(configuration.title, left, middle - 12, bold: true),
                label(
                    "\(decimal(comparison.ratio, places: 3)), \(comparison.verdict.rawValue)", right, middle - 12,
                    anchor: "end", class: "text-\(style)"),
                line(
                    x(comparison.interval.lowerBound), middle, x(comparison.interval.upperBound), middle,
                    class: "interval \(style)"),
                .element(
                    "circle",
                    ["cx": place(x(comparison.ratio)), "cy": place(middle), "r": "4.5", "class": "mark \(style)"]),
            ]
        }
        return .element(
            "figure", [:],
            [
                drawing(width: width, height: bottom + 40, title: "New medians over old ones", parts),
                .element(
                    "figcaption", [:],
                    "Dots: ratio of the medians; lines: where it may lie; the band: 3 per cent, taken for noise."),
            ])
    }
}

extension Verdict {
    /// Its colour in a page.
    var style: String {
        switch self {
        case .faster: "good"
        case .slower: "bad"
        case .same, .tooFewRuns: "even"
        }
    }
}
