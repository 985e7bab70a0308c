extension ReportComparison {
    /// A row for each run beside its counterpart.
    var table: Markup {
        // The verdict comes early: on a phone the rest is beyond the edge.
        BenchReport.table(
            ["precision", "batch", "verdict", "new/old", "between", "new, ms", "old, ms"], textColumns: [0, 2],
            rows.map { row in
                let configuration = row.configuration
                let none = "\u{2013}"
                var cells = [
                    "\(configuration.batch)", "no counterpart", none, none, decimal(row.median, places: 2), none,
                ]
                if let counterpart = row.counterpart, let comparison = row.comparison {
                    let low = decimal(comparison.interval.lowerBound, places: 3)
                    cells[1] =
                        comparison.verdict.rawValue
                        + (row.isAcrossDevices ? " than \(counterpart.configuration.deviceAndThreads)" : "")
                    cells[2] = decimal(comparison.ratio, places: 3)
                    cells[3] = "\(low) \(none) \(comparison.upperBoundText)"
                    cells[5] = decimal(counterpart.summary.median, places: 2)
                }
                let style = row.comparison?.verdict.style ?? "even"
                return .element(
                    "tr", [:],
                    [.element("th", ["scope": "row"], configuration.precision.rawValue)]
                        + cells.enumerated().map {
                            .element("td", ["class": $0.offset == 1 ? "text \(style)" : ""], $0.element)
                        })
            })
    }
}
