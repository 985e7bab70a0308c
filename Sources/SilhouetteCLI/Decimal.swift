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
