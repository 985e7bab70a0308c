import ModelGraph

extension ReportComparison {
    /// The comparison for people.
    var lines: [String] {
        var text = AlignedText([.left, .right, .right, .right, .right, .left, .left])
        text.append(["precision", "batch", "old ms", "new ms", "new/old", "between", "verdict"])
        for row in rows {
            let start = [row.configuration.precision.rawValue, "\(row.configuration.batch)"]
            let median = decimal(row.median, places: 2)
            guard let counterpart = row.counterpart, let comparison = row.comparison else {
                text.append(start + ["-", median, "-", "", "no counterpart"])
                continue
            }
            let verdict =
                comparison.verdict.rawValue
                + (row.isAcrossDevices ? ", beside \(counterpart.configuration.deviceAndThreads)" : "")
            text.append(
                start + [
                    decimal(counterpart.summary.median, places: 2), median, decimal(comparison.ratio, places: 3),
                    "\(decimal(comparison.interval.lowerBound, places: 3)) and \(comparison.upperBoundText)", verdict,
                ])
        }
        var lines = [
            "compared with \(earlier.name), \(earlier.date), Silhouette \(earlier.version), \(earlier.processor):"
        ]
        lines += text.lines
        if !leftOver.isEmpty {
            lines.append("not run again: " + leftOverNames)
        }
        if let doubt { lines.append("note: " + doubt) }
        return (lines + [wrapped(Self.explanation, width: 100, indent: 0)]).map(singleLineKeepingBreaks)
    }
}

extension ReportComparison {
    /// The earlier runs that nothing was compared with, a few of them by name.
    var leftOverNames: String {
        let limit = 8
        let names = leftOver.prefix(limit).map { "\($0.title) on \($0.deviceAndThreads)" }
        let others = leftOver.count > limit ? ["\(leftOver.count - limit) others"] : []
        return (names + others).joined(separator: "; ")
    }
}

/// Text whose lines do not steer the terminal, whatever names they quote.
private func singleLineKeepingBreaks(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { singleLine(String($0)) }.joined(separator: "\n")
}
