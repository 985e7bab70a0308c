import Imaging

extension Background {
    /// Reads a background that needs no file: `#rrggbb`, `black`, `gradient:90:#102030,white`, `blur:12`, `gray`, `dim:0.6`.
    ///
    /// - Returns: Nil where the text is none of these, and may be a file's name.
    package init?(text: String) throws(WordError) {
        let word = text.prefix { $0 != ":" }.lowercased()
        let rest = text.firstIndex(of: ":").map { String(text[text.index(after: $0)...]) }
        switch word {
        case "blur":
            self = .blur(radius: try Self.number(rest, in: Background.blurRange, for: "blur's radius"))
        case "gray" where rest == nil, "grey" where rest == nil: self = .gray
        case "dim": self = .dim(try Self.number(rest, in: 0...1, for: "dim's amount") ?? 0.6)
        case "gradient": self = .gradient(try Self.gradient(rest ?? ""))
        default:
            guard let color = RGBColor(word: text) else {
                if text.isEmpty || text.hasPrefix("#") {
                    throw WordError("needs a colour (#rrggbb), gradient, picture, blur, gray or dim, not '\(text)'")
                }
                return nil
            }
            self = .color(color)
        }
    }

    /// Words that `init(text:)` knows.
    package static var words: [String] { ["blur", "gray", "dim", "gradient"] + RGBColor.names.keys.sorted() }

    private static func number(
        _ text: String?, in range: ClosedRange<Float>, for purpose: String
    ) throws(WordError) -> Float? {
        guard let text else { return nil }
        return try Float(word: text, in: range, for: purpose)
    }

    private static func gradient(_ text: String) throws(WordError) -> Gradient {
        let example = "as in gradient:90:#102030,white"
        var colors = text
        var angle: Float = 180
        if let colon = text.firstIndex(of: ":") {
            guard let value = Float(text[..<colon]), value.isFinite, abs(value) <= 3600 else {
                throw WordError("needs a gradient's angle in degrees, \(example), not '\(text[..<colon])'")
            }
            angle = value
            colors = String(text[text.index(after: colon)...])
        }
        var read: [RGBColor] = []
        for word in colors.split(separator: ",", omittingEmptySubsequences: false) {
            guard let color = RGBColor(word: String(word)) else {
                throw WordError("needs a gradient's colours with commas in between, \(example), not '\(word)'")
            }
            read.append(color)
        }
        guard (2...64).contains(read.count) else {
            throw WordError("needs 2 to 64 colours for a gradient, \(example)")
        }
        return Gradient(angle: angle, colors: read)
    }
}

extension RGBColor {
    /// Colours that have a name here. `gray` is none of them: it means a background without colours.
    package static let names: [String: RGBColor] = [
        "black": .black, "white": .white, "red": RGBColor(red: 255, green: 0, blue: 0),
        "green": RGBColor(red: 0, green: 128, blue: 0), "blue": RGBColor(red: 0, green: 0, blue: 255),
        "yellow": RGBColor(red: 255, green: 255, blue: 0), "orange": RGBColor(red: 255, green: 165, blue: 0),
        "purple": RGBColor(red: 128, green: 0, blue: 128), "navy": RGBColor(red: 0, green: 0, blue: 128),
        "teal": RGBColor(red: 0, green: 128, blue: 128), "silver": RGBColor(red: 192, green: 192, blue: 192),
    ]

    /// Reads `#rrggbb` or a name.
    package init?(word: String) {
        if let named = Self.names[word.lowercased()] {
            self = named
        } else if word.hasPrefix("#"), let color = RGBColor(hex: word) {
            self = color
        } else {
            return nil
        }
    }
}
