/// `numerator / denominator` with one decimal, rounded half up; neither is negative.
func decimal(_ numerator: Int, over denominator: Int) -> String {
    let (whole, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
    // As a double: ten times the remainder could overflow.
    let tenths = Int(Double(rest) / Double(denominator) * 10 + 0.5)
    return tenths == 10 ? "\(grouped(whole + 1)).0" : "\(grouped(whole)).\(tenths)"
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

/// A number of operations in its own unit: `654.5 M`, `12.3 k` or `384`.
func operationText(_ count: Int) -> String {
    switch count {
    case 1_000_000...: "\(decimal(count, over: 1_000_000)) M"
    case 10_000...: "\(decimal(count, over: 1_000)) k"
    default: grouped(count)
    }
}

/// A number of bytes in its own unit: `5.4 MiB`, `12.3 KiB` or `384 B`.
func byteText(_ count: Int) -> String {
    switch count {
    case (1 << 20)...: "\(decimal(count, over: 1 << 20)) MiB"
    case 10_000...: "\(decimal(count, over: 1 << 10)) KiB"
    default: "\(grouped(count)) B"
    }
}
