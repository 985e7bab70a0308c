import Silhouette

/// What the options of effects ask for, the same for photographs and videos.
package struct EffectSettings: Sendable, Equatable {
    package var background: BackgroundSpecification?
    package var backgroundFit: PictureFit?
    package var edges: EdgeOptions.Source?
    package var threshold: Float?
    package var shift: Float?
    package var feather: Float?
    package var opacity: Float?
    package var outline: Float?
    package var classColors: [ClassColor] = []

    /// A class by its name or index, and a colour for it.
    package struct ClassColor: Sendable, Equatable {
        package var name: String
        package var color: RGBColor
    }

    package init() {}

    /// Refuses options that the output has no use for.
    ///
    /// - Parameter output: Its word on the command line.
    package func check(_ output: String) throws(UsageError) {
        let isOverlay = output == "overlay"
        let isComposite = output == "composite"
        let hasEdge = isOverlay || isComposite || output == "cutout"
        let hasMaskEdge = hasEdge || output == "mask"
        func refuse(_ flag: String, _ isGiven: Bool, unless isGood: Bool, _ good: String) throws(UsageError) {
            if isGiven, !isGood { throw UsageError("--\(flag) goes with --output \(good), not with \(output)") }
        }
        try refuse("background", background != nil, unless: isComposite, "composite")
        try refuse("background-fit", backgroundFit != nil, unless: isComposite, "composite")
        try refuse("opacity", opacity != nil, unless: isOverlay, "overlay")
        try refuse("outline", outline != nil, unless: isOverlay, "overlay")
        try refuse("class-color", !classColors.isEmpty, unless: isOverlay || output == "mask", "overlay or mask")
        let withEdges = "overlay, cutout, composite or mask"
        try refuse("edges", edges != nil, unless: hasMaskEdge, withEdges)
        try refuse("threshold", threshold != nil, unless: hasMaskEdge, withEdges)
        try refuse("shift", shift != nil, unless: hasMaskEdge, withEdges)
        try refuse("feather", feather != nil, unless: hasEdge, "overlay, cutout or composite")
        guard isComposite else { return }
        guard let background else {
            throw UsageError(
                "--output composite needs --background: a colour, a gradient, a picture, blur, gray or dim")
        }
        if backgroundFit != nil, !background.isPicture {
            throw UsageError("--background-fit goes with a picture as the background, not with \(background.text)")
        }
    }

    /// How edges are drawn. Nil: as the effect does by itself.
    var edgeOptions: EdgeOptions? {
        guard edges != nil || threshold != nil || shift != nil || feather != nil else { return nil }
        return EdgeOptions(
            source: edges ?? .guided, threshold: threshold ?? 0.5, shift: shift ?? 0, feather: feather ?? 0)
    }

    /// The effect. The background's picture is read.
    ///
    /// - Parameters:
    ///   - output: overlay, cutout or composite.
    ///   - limits: For the background's picture.
    func effect(_ output: String, labels: [String], limits: ImageLimits) throws -> Effect {
        switch output {
        case "cutout": return .cutout
        case "composite":
            guard let background else { throw UsageError("--output composite needs --background") }
            return .composite(try background.background(fit: backgroundFit ?? .cover, limits: limits))
        default:
            return .overlay(
                OverlayStyle(opacity: opacity ?? 0.5, outline: outline ?? 0, colors: try colors(of: labels)))
        }
    }

    /// Colours by the positions of their classes.
    func colors(of labels: [String]) throws(UsageError) -> [Int: RGBColor] {
        var colors: [Int: RGBColor] = [:]
        for entry in classColors {
            colors[try classIndices([entry.name], in: labels, flag: "class-color")[0]] = entry.color
        }
        return colors
    }
}

extension Option<EffectSettings> {
    /// The options of effects.
    fileprivate static var all: [Option] {
        [
            value(
                "background", nil, "WHAT",
                """
                What is behind the subject; makes the output a composite.
                #rrggbb or a colour's name: this colour.
                gradient:[ANGLE:]COLOUR,COLOUR,...: from one to the next; 0 degrees up, 90 right, 180 down (as without).
                FILE: this picture.
                blur[:RADIUS]: the photograph's own, out of focus; in its pixels (as without: a fortieth of its longer side).
                gray: its own, without colours.
                dim[:AMOUNT]: its own, darker; 0 not at all, 1 black (as without: 0.6).
                """
            ) { settings, value throws(UsageError) in
                settings.background = try BackgroundSpecification(value)
            },
            word(
                "background-fit",
                "How a picture lies behind: cover fills all, contain shows all, tile repeats it. (default: cover)",
                \.backgroundFit),
            word(
                "edges",
                """
                Where the subject's edge comes from.
                guided: the network's confidence, drawn along the edges of the picture.
                plain: the network's confidence alone.
                (default: guided; for a mask and an overlay the most likely class of each pixel)
                """,
                \.edges),
            number(
                "threshold", "C", in: EdgeOptions.thresholdRange,
                "The confidence at which the edge lies; less makes the subject larger. (default: 0.5)",
                \.threshold),
            number(
                "shift", "PIXELS", in: EdgeOptions.shiftRange, "Move the edge outwards, or inwards where negative.",
                \.shift),
            number(
                "feather", "PIXELS", in: EdgeOptions.featherRange, "Let the edge fade over so many pixels.",
                \.feather),
            number(
                "opacity", "O", in: OverlayStyle.opacityRange,
                "Of an overlay's colours: 0 shows the picture, 1 the colours. (default: 0.5)",
                \.opacity),
            number(
                "outline", "PIXELS", in: OverlayStyle.outlineRange,
                "Draw a line so wide around each object of an overlay.",
                \.outline),
            value(
                "class-color", nil, "CLASS=COLOUR", "Another colour for a class; may be given for several classes."
            ) { settings, value throws(UsageError) in
                guard let equals = value.lastIndex(of: "="), equals != value.startIndex,
                    let color = RGBColor(word: String(value[value.index(after: equals)...]))
                else { throw UsageError("needs a class and a colour, as in person=#ff8000, not '\(value)'") }
                settings.classColors.append(
                    EffectSettings.ClassColor(name: String(value[..<equals]), color: color))
            },
        ]
    }
}

extension Option {
    /// The options of effects, the same for all commands that have them.
    static func effects(_ member: WritableKeyPath<Settings, EffectSettings> & Sendable) -> [Option] {
        Option<EffectSettings>.all.map { $0.lifted(to: member) }
    }

    /// `--classes` and `--drop-classes`, the same for all commands that have them.
    static func classes(
        _ kept: WritableKeyPath<Settings, [String]?> & Sendable,
        _ dropped: WritableKeyPath<Settings, [String]?> & Sendable,
        default standard: String
    ) -> [Option] {
        func list(_ name: String, _ help: String, _ member: WritableKeyPath<Settings, [String]?> & Sendable) -> Option {
            value(name, nil, "LIST", help) { settings, value throws(UsageError) in
                let names = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                guard names.allSatisfy({ !$0.isEmpty }) else {
                    throw UsageError("needs names or indices with commas in between, not '\(value)'")
                }
                settings[keyPath: member] = names
            }
        }
        return [
            list(
                "classes",
                """
                Only these classes, by name or index, with commas in between: person,8. Others count as background. \
                (default: \(standard))
                """, kept),
            list("drop-classes", "All classes but these and background.", dropped),
        ]
    }
}
