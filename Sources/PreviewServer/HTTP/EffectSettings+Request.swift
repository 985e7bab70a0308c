import Effects
import WebProtocol
import Silhouette

extension EffectSettings {
    /// Names of the parameters of an address that say how a picture is drawn; as on the command line, without what needs a file.
    static let parameterNames = [
        "background", "edges", "threshold", "shift", "feather", "opacity", "outline", "class-color",
    ]

    /// What can be behind a picture that is posted.
    static let backgrounds = "a colour as #rrggbb, \(Background.words.joined(separator: ", "))"

    /// Reads the parameters of an address.
    init(_ request: HTTPRequest) throws(WordError) {
        self.init()
        for (name, text) in request.query where Self.parameterNames.contains(name) {
            do throws(WordError) {
                try set(name, to: text)
            } catch {
                // Clients keep what stands behind # in an address to themselves, so that a colour is cut off before it.
                let isCut = text.last.map { ":=,".contains($0) } ?? true
                let takesColor = name == "background" || name == "class-color"
                let hint = takesColor && isCut ? " (in an address # is written %23)" : ""
                throw WordError("\(name) \(error.description)\(hint)")
            }
        }
    }

    private mutating func set(_ name: String, to text: String) throws(WordError) {
        switch name {
        case "background":
            let background = try BackgroundSpecification(text)
            guard !background.isPicture else {
                throw WordError("needs \(Self.backgrounds), not '\(background.text)'")
            }
            self.background = background
        case "edges":
            guard let source = EdgeOptions.Source(rawValue: text) else {
                throw WordError("is guided or plain, not '\(text)'")
            }
            edges = source
        case "threshold": threshold = try Float(word: text, in: EdgeOptions.thresholdRange)
        case "shift": shift = try Float(word: text, in: EdgeOptions.shiftRange)
        case "feather": feather = try Float(word: text, in: EdgeOptions.featherRange)
        case "opacity": opacity = try Float(word: text, in: OverlayStyle.opacityRange)
        case "outline": outline = try Float(word: text, in: OverlayStyle.outlineRange)
        default: classColors.append(try ClassColor(text))
        }
    }
}
