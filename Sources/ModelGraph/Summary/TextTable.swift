/// Rows of words in aligned columns.
struct TextTable {
    /// Which side of its column a word stands on.
    enum Side { case left, right }

    private let sides: [Side]
    private var rows: [[String]] = []

    init(_ sides: [Side]) { self.sides = sides }

    /// Adds a row; words that are missing at its end are empty.
    mutating func append(_ words: String...) { rows.append(words) }

    /// The rows, each with `indent` in front and without spaces at its end.
    func lines(indent: String = "") -> [String] {
        let widths = sides.indices.map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = indent
            for (column, word) in row.enumerated() {
                let space = String(repeating: " ", count: widths[column] - word.count)
                line += (column == 0 ? "" : "  ") + (sides[column] == .left ? word + space : space + word)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

/// `numerator / denominator` with `places` decimals, rounded half up; both not negative.
func decimal(_ numerator: Int, over denominator: Int, places: Int = 1) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    var (whole, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
    // The remainder as a double: its product with the scale could overflow, and one decimal needs no more.
    var fraction = Int(Double(rest) / Double(denominator) * Double(scale) + 0.5)
    if fraction == scale { (whole, fraction) = (whole + 1, 0) }
    rest = fraction
    guard places > 0 else { return grouped(whole) }
    let digits = String(rest)
    return "\(grouped(whole)).\(String(repeating: "0", count: places - digits.count))\(digits)"
}

/// A whole number with a comma at every thousand.
func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
        if index > 0, index % 3 == 0, digit != "-" { text.append(",") }
        text.append(digit)
    }
    return String(text.reversed())
}
