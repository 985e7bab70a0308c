import Glibc
import Silhouette

/// A figure of each run of a sweep by its batch size, a line for each precision.
struct SweepChart {
    private let series: [(precision: Precision, points: [(batch: Int, value: Double)])]
    private let title, unit, caption: String

    private let width = 440.0, height = 270.0
    private let left = 46.0, right = 428.0, top = 30.0, bottom = 226.0

    /// Pictures a second; nil where no precision has several batch sizes.
    static func throughput(_ runs: [BenchRun]) -> SweepChart? {
        SweepChart(
            runs, title: "Throughput", unit: "pictures a second", caption: "Batch size over the median latency."
        ) { $0.imagesPerSecond }
    }

    /// Milliseconds; nil where no precision has several batch sizes.
    static func latency(_ runs: [BenchRun]) -> SweepChart? {
        SweepChart(
            runs, title: "Latency", unit: "milliseconds",
            caption: "Median time until all pictures of a batch are done."
        ) { Distribution($0.latencies).median }
    }

    private init?(
        _ runs: [BenchRun], title: String, unit: String, caption: String, _ value: (BenchRun) -> Double
    ) {
        self.title = title
        self.unit = unit
        self.caption = caption
        series = Precision.allCases.compactMap { precision in
            let points = runs.filter { $0.configuration.precision == precision }
                .map { (batch: $0.configuration.batch, value: value($0)) }.sorted { $0.batch < $1.batch }
            return points.isEmpty ? nil : (precision, points)
        }
        guard series.contains(where: { $0.points.count > 1 }) else { return nil }
    }

    var figure: Markup {
        let batches = Set(series.flatMap { $0.points.map(\.batch) }).sorted()
        let most = series.flatMap { $0.points.map(\.value) }.max() ?? 1
        let vertical = Axis(0...most * 1.08, from: bottom, to: top, count: 4, extends: true)
        // Each doubling is as wide as the next.
        let first = log(Double(batches[0]))
        let last = log(Double(batches[batches.count - 1]))
        func x(_ batch: Int) -> Double {
            left + 34 + (log(Double(batch)) - first) / (last - first) * (right - left - 68)
        }

        var parts = vertical.left(left: left, right: right, title: unit)
        parts.append(line(left, bottom, right, bottom, class: "axis"))
        for batch in batches {
            parts.append(line(x(batch), bottom, x(batch), bottom + 4, class: "axis"))
            parts.append(label("\(batch)", x(batch), bottom + 17, anchor: "middle", class: "soft"))
        }
        parts.append(label("pictures in a batch", (left + right) / 2, bottom + 34, anchor: "middle", class: "soft"))
        var labels: [Markup] = []
        for (index, (_, points)) in series.enumerated() {
            let style = index == 0 ? "first" : "second"
            let places = points.map { (x: x($0.batch), y: vertical.place(of: $0.value)) }
            parts.append(
                .element(
                    "polyline",
                    [
                        "points": places.map { "\(place($0.x)),\(place($0.y))" }.joined(separator: " "),
                        "class": "series \(style)",
                    ]))
            for (number, point) in points.enumerated() {
                parts.append(marker(places[number], style))
                let side = LabelSide(places, number, isAbove: isHighest(point, in: index), isAlone: series.count == 1)
                labels.append(
                    label(
                        decimal(point.value, places: point.value < 1000 ? 1 : 0), places[number].x + side.shift,
                        places[number].y + (side.isAbove ? -9 : 18), anchor: side.anchor, class: "text-\(style)"))
            }
        }
        // Over all lines.
        parts += labels
        return .element(
            "figure", [:],
            [
                .element("h3", [:], title), legend,
                drawing(width: width, height: height, title: "\(title) by batch size, \(unit)", parts),
                .element("figcaption", [:], caption),
            ])
    }

    /// A circle for the first series, a square for the second: colour alone does not tell them apart for everybody.
    private func marker(_ at: (Double, Double), _ style: String) -> Markup {
        style == "first"
            ? .element("circle", ["cx": place(at.0), "cy": place(at.1), "r": "4", "class": "mark \(style)"])
            : box(at.0 - 4, at.1 - 4, 8, 8, class: "mark \(style)")
    }

    private var legend: Markup {
        .element(
            "p", ["class": "legend"],
            series.enumerated().map { index, line in
                .element(
                    "span", [:],
                    [
                        .element("i", ["class": index == 0 ? "key first round" : "key second"]),
                        Markup(" \(line.precision.rawValue)"),
                    ])
            })
    }

    /// Whether no other series lies above a point: there its number has room.
    private func isHighest(_ point: (batch: Int, value: Double), in index: Int) -> Bool {
        series.enumerated().allSatisfy { other, line in
            other == index || line.points.allSatisfy { $0.batch != point.batch || $0.value < point.value }
        }
    }
}

/// Where a point's number stands, so that the lines to its neighbours do not go through it.
package struct LabelSide {
    package private(set) var isAbove: Bool
    package private(set) var anchor = "middle"
    private(set) var shift = 0.0

    /// - Parameters:
    ///   - places: The points of a line, from left to right.
    ///   - isAlone: Whether there is no other line, and so room on both sides.
    package init(_ places: [(x: Double, y: Double)], _ index: Int, isAbove: Bool, isAlone: Bool) {
        let here = places[index]
        // A line that is flatter than this passes below or above the number.
        func isSteep(_ neighbour: (x: Double, y: Double), _ isUp: Bool) -> Bool {
            (isUp ? here.y - neighbour.y : neighbour.y - here.y) > 0.3 * abs(neighbour.x - here.x)
        }
        func blocked(_ isUp: Bool) -> (left: Bool, right: Bool) {
            (
                index > 0 && isSteep(places[index - 1], isUp),
                index + 1 < places.count && isSteep(places[index + 1], isUp)
            )
        }
        var sides = blocked(isAbove)
        self.isAbove = isAbove
        if sides == (true, true), isAlone {
            self.isAbove.toggle()
            sides = (false, false)
        }
        if sides.left != sides.right { (anchor, shift) = sides.left ? ("start", -4) : ("end", 4) }
    }
}
