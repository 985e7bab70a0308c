/// A fraction, in lowest terms: a frame rate or the unit of timestamps.
package struct Rational: Hashable, Sendable, CustomStringConvertible {
    /// What is divided; at least 1.
    package let numerator: Int
    /// What it is divided by; at least 1.
    package let denominator: Int

    /// Creates a fraction. Nil where a part is not from 1 to 2^31 - 1, the range of ffmpeg's own.
    package init?(_ numerator: Int, _ denominator: Int) {
        let range = 1...Int(Int32.max)
        guard range.contains(numerator), range.contains(denominator) else { return nil }
        let divisor = greatestCommonDivisor(numerator, denominator)
        self.numerator = numerator / divisor
        self.denominator = denominator / divisor
    }

    /// Reads `30000/1001` or `16:9`. Nil for anything else, `0/0` included.
    init?(_ text: Substring) {
        let parts = text.split(separator: text.contains(":") ? ":" : "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = Int(parts[0]), let second = Int(parts[1]) else { return nil }
        self.init(first, second)
    }

    /// As a floating-point number.
    package var value: Double { Double(numerator) / Double(denominator) }
    /// One divided by it.
    package var inverse: Rational { Rational(denominator, numerator)! }
    /// As ffmpeg reads it: `30000/1001`.
    package var description: String { "\(numerator)/\(denominator)" }
}

/// The largest number that divides both; `first` where the other is 0.
func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
    var (first, second) = (first, second)
    while second != 0 { (first, second) = (second, first % second) }
    return first
}
