/// Rows of words in aligned columns.
package struct AlignedText {
    /// Which side of its column a word stands on.
    package enum Side: Sendable { case left, right }

    private let sides: [Side]
    private var rows: [Row] = []

    private enum Row {
        case words([String])
        /// Words, then text that no column holds.
        case remark([String], String)
    }

    package init(_ sides: [Side]) { self.sides = sides }

    package mutating func append(_ words: [String]) { rows.append(.words(words)) }

    mutating func append(_ words: String...) { append(words) }

    /// Adds a row; `remark` goes over all columns that are left.
    package mutating func append(_ words: [String], remark: String) { rows.append(.remark(words, remark)) }

    /// The rows, without spaces at their ends.
    package var lines: [String] {
        let widths = sides.indices.map { column in
            rows.map { row in
                let words =
                    switch row {
                    case .words(let words), .remark(let words, _): words
                    }
                return column < words.count ? words[column].count : 0
            }.max() ?? 0
        }
        func line(_ words: [String]) -> String {
            words.enumerated().map { column, word in
                let space = String(repeating: " ", count: widths[column] - word.count)
                return sides[column] == .left ? word + space : space + word
            }.joined(separator: "  ")
        }
        return rows.map { row in
            var text =
                switch row {
                case .words(let words): line(words)
                case .remark(let words, let remark): line(words) + "  " + remark
                }
            while text.last == " " { text.removeLast() }
            return text
        }
    }
}
