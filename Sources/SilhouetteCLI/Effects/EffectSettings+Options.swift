import Effects
import Silhouette

extension EffectSettings {
    /// Refuses options that the output has no use for.
    ///
    /// - Parameter output: Its word on the command line.
    func check(_ output: String) throws(UsageError) {
        try reading { () throws(WordError) in try check(output, mark: "--") }
    }

    /// The effect. The background's picture is read.
    ///
    /// - Parameters:
    ///   - output: overlay, cutout, composite, or mask.
    ///   - limits: For the background's picture.
    /// - Returns: Nil where nothing is drawn.
    func effect(_ output: String, labels: [String], limits: ImageLimits) throws -> Effect? {
        effect(
            output, background: try background?.background(fit: backgroundFit ?? .cover, limits: limits),
            colors: try classColors(among: labels))
    }

    /// Colours by the positions of their classes.
    func classColors(among labels: [String]) throws(UsageError) -> [Int: RGBColor] {
        try reading("--class-color: ") { () throws(WordError) in try colors(of: labels) }
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
                settings.background = try reading { () throws(WordError) in try BackgroundSpecification(value) }
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
                settings.classColors.append(
                    try reading { () throws(WordError) in try EffectSettings.ClassColor(value) })
            },
        ]
    }
}

extension Option {
    /// The options of effects, the same for all commands that have them.
    static func effects(_ member: WritableKeyPath<Settings, EffectSettings> & Sendable) -> [Option] {
        Option<EffectSettings>.all.map { $0.lifted(to: member) }
    }
}
