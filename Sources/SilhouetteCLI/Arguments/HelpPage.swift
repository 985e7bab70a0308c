/// Columns of a help page.
private let pageWidth = 100
/// Column at which the descriptions of options begin.
private let descriptionColumn = 30

extension Subcommand {
    /// The page that `--help` shows, without a line break at its end.
    package var helpPage: String {
        var page = "usage: silhouette \(name)"
        if !operands.isEmpty { page += " \(operands)" }
        page += " [OPTION...]\n\n"
        page += wrapped(introduction, width: pageWidth, indent: 0) + "\n\noptions:\n"
        for option in options { page += entry(option.signature, option.help) }
        page += entry("-h, --help", "Show this page.")
        if !details.isEmpty { page += "\n" + details + "\n" }
        page.removeLast()  // whoever prints a page ends its last line
        return page
    }

    private func entry(_ signature: String, _ description: String) -> String {
        let left = "  " + signature
        let right = wrapped(description, width: pageWidth, indent: descriptionColumn)
        let margin = String(repeating: " ", count: descriptionColumn)
        // A signature that would touch its description stands on a line of its own.
        guard left.count + 2 <= descriptionColumn else { return "\(left)\n\(margin)\(right)\n" }
        return left + margin.dropFirst(left.count) + right + "\n"
    }
}

/// Breaks text at spaces so that no line is longer than `width`, all but the first line indented.
///
/// Line breaks in the text stay.
package func wrapped(_ text: String, width: Int, indent: Int) -> String {
    let margin = "\n" + String(repeating: " ", count: indent)
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { paragraph in
        var lines: [String] = [""]
        for word in paragraph.split(separator: " ") {
            if lines[lines.count - 1].isEmpty {
                lines[lines.count - 1] = String(word)
            } else if indent + lines[lines.count - 1].count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: margin)
    }.joined(separator: margin)
}
