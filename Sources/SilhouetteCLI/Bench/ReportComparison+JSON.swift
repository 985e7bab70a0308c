import JSONText

extension ReportComparison {
    var json: JSONValue {
        .object([
            "with": .text(earlier.name), "date": .text(earlier.date), "silhouette": .text(earlier.version),
            "results": .list(
                rows.map { row in
                    .members(
                        row.configuration.members + [
                            ("old_device", row.counterpart.map { .text($0.configuration.device) } ?? .null),
                            ("new_ms", .number(row.median)),
                            ("old_ms", row.counterpart.map { .number($0.summary.median) } ?? .null),
                            ("ratio", row.comparison.map { .number($0.ratio) } ?? .null),
                            (
                                "interval",
                                row.comparison.map {
                                    .list([.number($0.interval.lowerBound), .number($0.interval.upperBound)])
                                } ?? .null
                            ),
                            ("verdict", .text(row.comparison?.verdict.rawValue ?? "no counterpart")),
                        ])
                }),
            "left_over": .list(leftOver.map { .members($0.members) }),
        ])
    }
}

extension BenchConfiguration {
    fileprivate var members: [(String, JSONValue)] {
        [
            ("model", .text(model)), ("device", .text(device)), ("precision", .text(precision.rawValue)),
            ("batch", .integer(batch)), ("threads", .integer(threads)), ("scope", .text(scope.rawValue)),
            ("input", .text(input)),
        ]
    }
}
