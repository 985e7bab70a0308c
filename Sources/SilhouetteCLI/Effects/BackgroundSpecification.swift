import Silhouette

/// A background as it is named on the command line; a picture is not read yet.
package enum BackgroundSpecification: Sendable, Equatable {
    /// One that needs no file, and the word it was named with.
    case plain(Background, String)
    /// A picture's file.
    case picture(String)

    /// Reads `#rrggbb`, `black`, `gradient:90:#a,#b`, `blur:12`, `gray`, `dim:0.6` or a path.
    package init(_ text: String) throws(UsageError) {
        let word = text.prefix { $0 != ":" }.lowercased()
        let rest = text.firstIndex(of: ":").map { String(text[text.index(after: $0)...]) }
        switch word {
        case "blur":
            self = .plain(
                .blur(radius: try Self.number(rest, "blur's radius", in: Background.blurRange)), text)
        case "gray" where rest == nil, "grey" where rest == nil: self = .plain(.gray, text)
        case "dim": self = .plain(.dim(try Self.number(rest, "dim's amount", in: 0...1) ?? 0.6), text)
        case "gradient": self = .plain(.gradient(try Self.gradient(rest ?? "")), text)
        default:
            if let color = RGBColor(word: text) {
                self = .plain(.color(color), text)
            } else if text.isEmpty || text.hasPrefix("#") {
                throw UsageError("is no colour (#rrggbb), picture, blur, gray or dim: '\(text)'")
            } else {
                self = .picture(text)
            }
        }
    }

    /// Whether it is a picture.
    var isPicture: Bool { if case .picture = self { true } else { false } }

    /// As it was typed.
    var text: String {
        switch self {
        case .plain(_, let text), .picture(let text): text
        }
    }

    /// The background; a picture is read.
    func background(fit: PictureFit, limits: ImageLimits) throws -> Background {
        switch self {
        case .plain(let background, _): return background
        case .picture(let path):
            do throws(ImageError) {
                return .picture(try ImageFile.read(path: path, limits: limits).image.flattened(), fit)
            } catch {
                if case .unreadable = error.reason, !path.contains("/"), !path.contains(".") {
                    let words = ["blur", "gray", "dim", "gradient"] + RGBColor.names.keys.sorted()
                    let hint = nearest(to: path, among: words).map { "; did you mean \($0)?" } ?? ""
                    throw UsageError("--background: '\(path)' is neither a colour nor a picture\(hint)")
                }
                throw error
            }
        }
    }

    private static func number(
        _ text: String?, _ name: String, in range: ClosedRange<Float>
    ) throws(UsageError) -> Float? {
        guard let text else { return nil }
        guard let value = Float(text), range.contains(value) else {
            throw UsageError(
                "\(name) is a number from \(shortText(range.lowerBound)) to \(shortText(range.upperBound)), not '\(text)'"
            )
        }
        return value
    }

    private static func gradient(_ text: String) throws(UsageError) -> Gradient {
        let example = "as in gradient:90:#102030,white"
        var colors = text
        var angle: Float = 180
        if let colon = text.firstIndex(of: ":") {
            guard let value = Float(text[..<colon]), value.isFinite, abs(value) <= 3600 else {
                throw UsageError("a gradient's angle is in degrees, \(example), not '\(text[..<colon])'")
            }
            angle = value
            colors = String(text[text.index(after: colon)...])
        }
        var read: [RGBColor] = []
        for word in colors.split(separator: ",", omittingEmptySubsequences: false) {
            guard let color = RGBColor(word: String(word)) else {
                throw UsageError("a gradient has colours with commas in between, \(example), not '\(word)'")
            }
            read.append(color)
        }
        guard (2...64).contains(read.count) else {
            throw UsageError("a gradient has 2 to 64 colours, \(example)")
        }
        return Gradient(angle: angle, colors: read)
    }
}

extension RGBColor {
    /// Colours that have a name here. `gray` is none of them: it means a background without colours.
    static let names: [String: RGBColor] = [
        "black": .black, "white": .white, "red": RGBColor(red: 255, green: 0, blue: 0),
        "green": RGBColor(red: 0, green: 128, blue: 0), "blue": RGBColor(red: 0, green: 0, blue: 255),
        "yellow": RGBColor(red: 255, green: 255, blue: 0), "orange": RGBColor(red: 255, green: 165, blue: 0),
        "purple": RGBColor(red: 128, green: 0, blue: 128), "navy": RGBColor(red: 0, green: 0, blue: 128),
        "teal": RGBColor(red: 0, green: 128, blue: 128), "silver": RGBColor(red: 192, green: 192, blue: 192),
    ]

    /// Reads `#rrggbb` or a name.
    init?(word: String) {
        if let named = Self.names[word.lowercased()] {
            self = named
        } else if word.hasPrefix("#"), let color = RGBColor(hex: word) {
            self = color
        } else {
            return nil
        }
    }
}
