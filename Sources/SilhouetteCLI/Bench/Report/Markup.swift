/// A piece of a page: HTML, or SVG in it, well-formed as XML too. Text and attributes are escaped on their way in.
package struct Markup: Sendable {
    /// As it stands in the page.
    package let source: String

    private init(source: String) { self.source = source }

    /// Text.
    package init(_ text: String) { source = Self.escaped(text) }

    /// One piece after the other.
    package init(_ pieces: [Markup]) { source = pieces.map(\.source).joined() }

    /// An element with others in it.
    package static func element(
        _ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ children: [Markup] = []
    ) -> Markup {
        let start = attributes.reduce("<" + name) { start, attribute in
            attribute.value.isEmpty ? start : start + " \(attribute.key)=\"\(escaped(attribute.value))\""
        }
        guard !children.isEmpty || !voidElements.contains(name) else { return Markup(source: start + "/>") }
        let breaks = blockElements.contains(name) ? "\n" : ""
        return Markup(source: start + ">" + children.map(\.source).joined() + "</\(name)>" + breaks)
    }

    /// An element with text in it.
    package static func element(
        _ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ text: String
    ) -> Markup {
        element(name, attributes, [Markup(text)])
    }

    /// A style sheet, which HTML takes as it is: it must hold neither `<` nor `&`.
    static func style(_ sheet: String) -> Markup {
        precondition(!sheet.contains { $0 == "<" || $0 == "&" })
        return Markup(source: "<style>\n\(sheet)\n</style>\n")
    }

    /// Elements that must not have an end in HTML, and SVG's that are empty here.
    private static let voidElements: Set = ["meta", "br", "line", "rect", "circle", "path", "polyline"]
    private static let blockElements: Set = [
        "div", "section", "figure", "svg", "tr", "table", "p", "h1", "h2", "h3", "header", "footer", "g",
    ]

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            // Neither XML nor HTML has these, not even escaped.
            case "\u{0}"..."\u{8}", "\u{B}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}":
                result += "\u{FFFD}"
            // These would turn around what follows them.
            case _ where scalar.properties.isBidiControl: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// A place or a length in a drawing. What is not finite must not get there; it would spoil the whole drawing.
func place(_ value: Double) -> String { value.isFinite ? decimal(value, places: 2) : "0.00" }

/// Text in a drawing.
func label(
    _ text: String, _ x: Double, _ y: Double, anchor: String = "start", class style: String = "", bold: Bool = false
) -> Markup {
    .element(
        "text",
        [
            "x": place(x), "y": place(y), "text-anchor": anchor == "start" ? "" : anchor, "class": style,
            "font-weight": bold ? "600" : "",
        ], text)
}

/// A straight line in a drawing.
func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, class style: String) -> Markup {
    .element("line", ["x1": place(x1), "y1": place(y1), "x2": place(x2), "y2": place(y2), "class": style])
}

/// A box in a drawing.
func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double, class style: String, radius: Double = 0) -> Markup
{
    .element(
        "rect",
        [
            "x": place(x), "y": place(y), "width": place(max(0, width)), "height": place(max(0, height)),
            "rx": radius > 0 ? place(radius) : "", "class": style,
        ])
}

/// A drawing with a title for those who do not see it.
func drawing(width: Double, height: Double, title: String, _ children: [Markup]) -> Markup {
    .element(
        "svg",
        ["viewBox": "0 0 \(place(width)) \(place(height))", "role": "img", "xmlns": "http://www.w3.org/2000/svg"],
        [.element("title", [:], title)] + children)
}
