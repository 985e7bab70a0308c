/// An axis of a chart: values on a line, with round numbers marked.
package struct Axis: Sendable {
    /// Values at both ends.
    package let range: ClosedRange<Double>
    /// Places at both ends.
    let start, end: Double
    /// The values to mark, between the ends.
    package let ticks: [Double]
    private let decimals: Int

    /// Makes an axis.
    ///
    /// - Parameters:
    ///   - range: What it must show; the upper end is moved to a round number where `extends` says so.
    ///   - count: About how many values to mark.
    package init(_ range: ClosedRange<Double>, from start: Double, to end: Double, count: Int, extends: Bool = false) {
        self.start = start
        self.end = end
        var (low, high) = (range.lowerBound, range.upperBound)
        if !(low.isFinite && high.isFinite) { (low, high) = (0, 1) }
        // Equal numbers have no scale: some room on both sides.
        if high - low <= max(abs(high), abs(low)) * 1e-6 {
            let room = max(abs(high) * 0.05, 1e-6)
            (low, high) = (low == 0 ? 0 : low - room, high + room)
        }
        let (step, decimals) = Self.roundStep(above: (high - low) / Double(count))
        if extends { high = (high / step).rounded(.up) * step }
        self.range = low...high
        self.decimals = decimals
        // A little slack: 0.3 is no whole number of tenths.
        let first = (low / step - 1e-6).rounded(.up)
        let last = (high / step + 1e-6).rounded(.down)
        ticks = first <= last ? stride(from: first, through: last, by: 1).map { $0 * step } : []
    }

    /// The place of a value.
    package func place(of value: Double) -> Double {
        start + (value - range.lowerBound) / (range.upperBound - range.lowerBound) * (end - start)
    }

    /// A marked value in words.
    package func text(of tick: Double) -> String { decimal(tick, places: decimals) }

    /// The smallest of 1, 2, 5, 10, 20 ... that is not below a number, and the places it needs.
    private static func roundStep(above least: Double) -> (step: Double, decimals: Int) {
        var (power, decimals) = (1.0, 0)
        while power * 10 <= least { power *= 10 }
        while power > least, decimals < 9 { (power, decimals) = (power / 10, decimals + 1) }
        for factor in [1.0, 2, 5] where power * factor >= least { return (power * factor, decimals) }
        return (power * 10, max(0, decimals - 1))
    }
}

extension Axis {
    /// The axis along the bottom of a chart: lines over the chart's height, numbers below, and what they are.
    func bottom(top: Double, bottom: Double, title: String) -> [Markup] {
        ticks.flatMap { tick in
            [
                line(place(of: tick), top, place(of: tick), bottom, class: "grid"),
                label(text(of: tick), place(of: tick), bottom + 15, anchor: anchor(of: tick), class: "soft"),
            ]
        } + [
            line(start, bottom, end, bottom, class: "axis"),
            label(title, (start + end) / 2, bottom + 31, anchor: "middle", class: "soft"),
        ]
    }

    /// Numbers at the very ends stay inside the drawing.
    private func anchor(of tick: Double) -> String {
        if place(of: tick) - start < 8 { return "start" }
        return end - place(of: tick) < 8 ? "end" : "middle"
    }

    /// The axis along the left of a chart, what its numbers are above it.
    func left(left: Double, right: Double, title: String) -> [Markup] {
        ticks.flatMap { tick in
            [
                line(left, place(of: tick), right, place(of: tick), class: "grid"),
                label(text(of: tick), left - 6, place(of: tick) + 4, anchor: "end", class: "soft"),
            ]
        } + [label(title, 0, 11, class: "soft")]
    }
}
