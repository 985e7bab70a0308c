/// A number with a fixed count of decimal places, without Foundation's formatters: they would load ICU.
package func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard places > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % scale)
    return "\(sign)\(scaled / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
}

/// A number of any size with two digits: `3.1e-07`.
package func scientific(_ value: Double) -> String {
    guard value.isFinite, value != 0 else { return value == 0 ? "0" : "\(value)" }
    var exponent = 0
    var mantissa = abs(value)
    while mantissa >= 9.95 { (mantissa, exponent) = (mantissa / 10, exponent + 1) }
    while mantissa < 0.995 { (mantissa, exponent) = (mantissa * 10, exponent - 1) }
    let digits = String(abs(exponent))
    return (value < 0 ? "-" : "") + decimal(mantissa, places: 1) + "e" + (exponent < 0 ? "-" : "+")
        + (digits.count < 2 ? "0" + digits : digits)
}
