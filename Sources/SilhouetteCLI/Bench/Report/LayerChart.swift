/// The time of each layer as a bar, with its floor in it; longest first, and those that hardly count as one.
struct LayerChart {
    let run: BenchRun

    private static let shownCount = 20
    private let width = 440.0
    private let left = 2.0, right = 430.0, top = 4.0, pitch = 31.0

    /// Nil where the device has no clock.
    var figure: Markup? {
        let sorted = run.layers.filter { $0.milliseconds.isFinite }.sorted { $0.milliseconds > $1.milliseconds }
        let shown = sorted.prefix(Self.shownCount)
        let rest = sorted.dropFirst(Self.shownCount).map(\.milliseconds).reduce(0, +)
        let sum = sorted.map(\.milliseconds).reduce(0, +)
        guard sum > 0, let longest = shown.first?.milliseconds else { return nil }
        let axis = Axis(
            0...max(longest, shown.compactMap(\.floorMilliseconds).max() ?? 0), from: left, to: right, count: 5,
            extends: true)
        let bottom = top + Double(shown.count) * pitch + 4
        var parts = axis.bottom(top: top, bottom: bottom, title: "median time, ms")
        for (index, layer) in shown.enumerated() {
            parts.append(bar(layer, share: layer.milliseconds / sum, at: top + Double(index) * pitch, axis))
        }
        if sorted.count > shown.count {
            // As a bar it would be longer than all others, and tell nothing.
            parts += [
                label("the other \(sorted.count - shown.count) layers together", left, bottom + 56),
                label(time(rest, rest / sum), right, bottom + 56, anchor: "end"),
            ]
        }
        return .element(
            "figure", [:],
            [
                .element("h3", [:], run.configuration.title), legend(shown),
                drawing(
                    width: width, height: bottom + (sorted.count > shown.count ? 64 : 40),
                    title: "Time by layer, \(run.configuration.title)", parts),
                .element("figcaption", [:], caption),
            ])
    }

    private func bar(_ layer: LayerTime, share: Double, at y: Double, _ axis: Axis) -> Markup {
        let end = axis.place(of: layer.milliseconds)
        let barTop = y + 16
        // In a wide font, letters in bold are about 7.8 wide, others 6.9; the time on the right takes 118.
        let room = Int((right - 7 - 118 - Double(layer.operation.count) * 7.8) / 6.9)
        var parts: [Markup] = [
            .element("title", [:], "\(layer.operation), \(layer.name)"),
            .element(
                "text", ["x": place(left), "y": place(y + 12)],
                [
                    .element("tspan", ["font-weight": "600"], layer.operation),
                    .element("tspan", ["class": "soft", "dx": "7"], shortened(layer.name, room)),
                ]),
            label(time(layer.milliseconds, share), right, y + 12, anchor: "end"),
        ]
        guard let floor = layer.floorMilliseconds else {
            return .element("g", [:], parts + [box(left, barTop, end - left, 9, class: "bar plain", radius: 1.5)])
        }
        let floorEnd = axis.place(of: floor)
        parts.append(box(left, barTop, end - left, 9, class: "bar pale", radius: 1.5))
        parts.append(box(left, barTop, min(end, floorEnd) - left, 9, class: "bar", radius: 1.5))
        if floorEnd > end { parts.append(line(floorEnd, barTop - 1, floorEnd, barTop + 10, class: "median")) }
        return .element("g", [:], parts)
    }

    private func time(_ milliseconds: Double, _ share: Double) -> String {
        "\(decimal(milliseconds, places: 3)) ms, \(decimal(share * 100, places: 1)) %"
    }

    /// The part of a layer's name that tells it from others: without the folders that most layers are in.
    private func shortened(_ name: String, _ room: Int) -> String {
        var parts = name.split(separator: "/")
        var depth = 0
        while parts.count > 1 {
            let folder = parts[0]
            let sharing = run.layers.count {
                let others = $0.name.split(separator: "/")
                return others.count > depth && others[depth] == folder
            }
            guard sharing * 2 > run.layers.count else { break }
            parts.removeFirst()
            depth += 1
        }
        let text = parts.joined(separator: "/")
        return text.count <= room ? text : text.prefix(max(4, room - 1)) + "\u{2026}"
    }

    private func legend(_ layers: ArraySlice<LayerTime>) -> Markup {
        func key(_ style: String, _ text: String) -> Markup {
            .element("span", [:], [.element("i", ["class": "key \(style)"], " "), Markup(text)])
        }
        guard layers.contains(where: { $0.floorMilliseconds != nil }) else { return Markup([]) }
        let isOneUnknown = layers.contains { $0.floorMilliseconds == nil }
        return .element(
            "p", ["class": "legend"],
            [key("first", " floor"), key("pale", " above the floor")]
                + (isOneUnknown ? [key("plain", " no floor known")] : []))
    }

    private var caption: String {
        let known = run.layers.filter { $0.floorMilliseconds != nil && $0.milliseconds.isFinite }
        let floors = known.compactMap(\.floorMilliseconds).reduce(0, +)
        let times = known.map(\.milliseconds).reduce(0, +)
        guard floors > 0, let rates = run.rates else { return "The median of each layer's times." }
        return "Layers with a floor take \(decimal(times, places: 2)) ms together, "
            + "\(decimal(times / floors, places: 1)) times their floors of \(decimal(floors, places: 2)) ms. "
            + "Best rates: \(rates.text)."
    }
}
