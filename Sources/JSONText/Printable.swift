/// `text` in quotes, fit for one line of a message: without control characters and not too long.
package func printable(_ text: String) -> String { "\"" + printableWords(text) + "\"" }

/// The same without quotes.
package func printableWords(_ text: String) -> String {
    let limit = 80
    var line = ""
    for (index, scalar) in text.unicodeScalars.enumerated() {
        if index == limit {
            line += "..."
            break
        }
        if isPrintable(scalar) {
            line.unicodeScalars.append(scalar)
        } else {
            line += "\\u{\(String(scalar.value, radix: 16))}"
        }
    }
    return line
}

/// Whether a scalar neither moves the terminal's cursor nor turns the direction of the text around.
package func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
    default: true
    }
}
