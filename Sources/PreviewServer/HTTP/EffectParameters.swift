import Silhouette

/// How a picture that is posted is drawn, as the address says.
///
///     background=blur:12|gray|dim:0.6|#rrggbb|black|gradient:90:#102030,white   for output=composite
///     edges=guided|plain   threshold=0.5   shift=0   feather=0   opacity=0.5   outline=0
struct EffectParameters {
    /// Names of the parameters.
    static let names = ["background", "edges", "threshold", "shift", "feather", "opacity", "outline"]

    private let values: [String: String]

    init(_ request: HTTPRequest) {
        var values: [String: String] = [:]
        for name in Self.names { values[name] = request.parameter(name) }
        self.values = values
    }

    /// What is drawn. Nil: masks are wanted.
    ///
    /// - Parameters:
    ///   - output: overlay, cutout, composite or a mask.
    ///   - classes: The subject. Nil: all but background.
    func options(_ output: String, classes: [Int]?) throws(WordError) -> EffectOptions? {
        let known: [String: Set<String>] = [
            "overlay": ["edges", "threshold", "shift", "feather", "opacity", "outline"],
            "cutout": ["edges", "threshold", "shift", "feather"],
            "composite": ["background", "edges", "threshold", "shift", "feather"],
        ]
        if let stray = Self.names.first(where: { values[$0] != nil && known[output]?.contains($0) != true }) {
            throw WordError("\(stray) does not go with output=\(output)")
        }
        let effect: Effect
        switch output {
        case "overlay":
            effect = .overlay(
                OverlayStyle(
                    opacity: try number("opacity", in: OverlayStyle.opacityRange) ?? 0.5,
                    outline: try number("outline", in: OverlayStyle.outlineRange) ?? 0))
        case "cutout": effect = .cutout
        case "composite":
            let words = "a colour as #rrggbb, \(Background.words.joined(separator: ", "))"
            guard let text = values["background"] else {
                throw WordError("output=composite needs background: \(words)")
            }
            guard let background = try Background(text: text) else {
                throw WordError("background is \(words), not '\(text)'")
            }
            effect = .composite(background)
        default: return nil
        }
        return EffectOptions(effect, classes: classes, edges: try edges())
    }

    private func edges() throws(WordError) -> EdgeOptions? {
        guard ["edges", "threshold", "shift", "feather"].contains(where: { values[$0] != nil }) else { return nil }
        var options = EdgeOptions()
        if let word = values["edges"] {
            guard let source = EdgeOptions.Source(rawValue: word) else {
                throw WordError("edges is guided or plain, not '\(word)'")
            }
            options.source = source
        }
        options.threshold = try number("threshold", in: EdgeOptions.thresholdRange) ?? options.threshold
        options.shift = try number("shift", in: EdgeOptions.shiftRange) ?? options.shift
        options.feather = try number("feather", in: EdgeOptions.featherRange) ?? options.feather
        return options
    }

    private func number(_ name: String, in range: ClosedRange<Float>) throws(WordError) -> Float? {
        guard let text = values[name] else { return nil }
        guard let value = Float(text), range.contains(value) else {
            throw WordError(
                "\(name) is a number from \(range.lowerBound.shortText) to \(range.upperBound.shortText), not '\(text)'"
            )
        }
        return value
    }
}
