import Imaging

/// What words ask for of an effect: the options of a command, the parameters of an address. They are the same words, and which
/// goes with which output is said here once.
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

        /// Reads `person=#ff8000`.
        package init(_ text: String) throws(WordError) {
            guard let equals = text.lastIndex(of: "="), equals != text.startIndex,
                let color = RGBColor(word: String(text[text.index(after: equals)...]))
            else { throw WordError("needs a class and a colour, as in person=#ff8000, not '\(text)'") }
            name = String(text[..<equals])
            self.color = color
        }
    }

    package init() {}

    /// Refuses words that the output has no use for, and the lack of those that it needs.
    ///
    /// - Parameters:
    ///   - output: Its word: mask, overlay, cutout, composite or another one.
    ///   - mark: What stands before a word where it is written: two dashes on the command line.
    package func check(_ output: String, mark: String) throws(WordError) {
        let isOverlay = output == "overlay"
        let isComposite = output == "composite"
        let hasEdge = isOverlay || isComposite || output == "cutout"
        let hasMaskEdge = hasEdge || output == "mask"
        func refuse(_ word: String, _ isGiven: Bool, unless isGood: Bool, _ good: String) throws(WordError) {
            guard isGiven, !isGood else { return }
            throw WordError("\(mark)\(word) goes with \(mark)output \(good), not with \(output)")
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
            throw WordError(
                "\(mark)output composite needs \(mark)background: a colour, a gradient, a picture, blur, gray or dim")
        }
        if backgroundFit != nil, !background.isPicture {
            throw WordError(
                "\(mark)background-fit goes with a picture as the background, not with \(background.text)")
        }
    }

    /// Colours by the positions of their classes.
    package func colors(of labels: [String]) throws(WordError) -> [Int: RGBColor] {
        var colors: [Int: RGBColor] = [:]
        for entry in classColors { colors[try ClassSelection.index(of: entry.name, in: labels)] = entry.color }
        return colors
    }

    /// How edges are drawn. Nil: as the effect does by itself.
    package var edgeOptions: EdgeOptions? {
        guard edges != nil || threshold != nil || shift != nil || feather != nil else { return nil }
        return EdgeOptions(
            source: edges ?? .guided, threshold: threshold ?? 0.5, shift: shift ?? 0, feather: feather ?? 0)
    }

    /// The effect that makes an output which has been checked. Nil: the output is none, or a composite without a background.
    ///
    /// - Parameters:
    ///   - output: overlay, cutout or composite; or mask, whose edges an overlay's are.
    ///   - background: That of a composite, read where it is a file.
    ///   - colors: By the positions of their classes.
    package func effect(_ output: String, background: Background?, colors: [Int: RGBColor]) -> Effect? {
        switch output {
        case "overlay": .overlay(OverlayStyle(opacity: opacity ?? 0.5, outline: outline ?? 0, colors: colors))
        case "mask": edgeOptions.map { _ in .overlay(OverlayStyle()) }
        case "cutout": .cutout
        case "composite": background.map(Effect.composite)
        default: nil
        }
    }
}

/// A background as it is named; a picture is not read yet.
package enum BackgroundSpecification: Sendable, Equatable {
    /// One that needs no file, and the word it was named with.
    case plain(Background, String)
    /// A picture's file.
    case picture(String)

    /// Reads what `Background(text:)` does, or a path.
    package init(_ text: String) throws(WordError) {
        self = try Background(text: text).map { .plain($0, text) } ?? .picture(text)
    }

    /// Whether it is a picture.
    package var isPicture: Bool { path != nil }

    /// The picture's file.
    package var path: String? { if case .picture(let path) = self { path } else { nil } }

    /// As it was typed.
    package var text: String {
        switch self {
        case .plain(_, let text), .picture(let text): text
        }
    }
}
