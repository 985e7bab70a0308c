/// Turns the timestamps of a film's frames into those of the film that is made of it.
///
/// Each frame keeps its time, counted from the first one. Where a film has a constant rate and its container has only rounded
/// times (Matroska: milliseconds), the exact ones come back: a frame within one unit of its place is put there. A frame
/// that is not, since the rate varies or one was left out, stays where it is.
package struct FilmClock: Sendable {
    /// The unit of the times that are given.
    package let timeBase: Rational
    /// The rate that frames are put to; nil where they all keep their times.
    package let rate: Rational?

    /// The finest unit that is of use: frames travel to the encoder in microseconds.
    private static let finest = 1_000_000
    /// Seconds from the first frame to any other: more than a century. Times in damaged films may be more than integers hold.
    private static let longest = 5e9
    /// Rates that cameras have. What is guessed of a film with varying rate is often larger.
    private static let rates = 1.0...240

    private let source: Rational
    private var first: Int?
    private var last = -1

    /// - Parameters:
    ///   - source: The unit of the timestamps that come.
    ///   - rate: The constant rate that the film seems to have.
    package init(source: Rational, rate: Rational?) {
        self.source = source
        var rate = rate
        // Where a frame's place could be more than one, none is sought.
        if let found = rate, !Self.rates.contains(found.value) || source.value * found.value > 0.25 { rate = nil }
        if let found = rate {
            let common =
                source.denominator / greatestCommonDivisor(source.denominator, found.numerator) * found.numerator
            if common <= Self.finest {
                timeBase = Rational(1, common)!
                self.rate = found
                return
            }
        }
        timeBase = Rational(1, min(source.denominator, Self.finest))!
        self.rate = nil
    }

    /// The clock of a film's frames.
    package init(of film: Film) { self.init(source: film.info.timeBase, rate: film.info.rate) }

    /// When a frame is shown, in units of `timeBase` from the first frame on; later than all before it.
    package mutating func time(of timestamp: Int) -> Int {
        let start = first ?? timestamp
        first = start
        let elapsed = min(max(0, (Double(timestamp) - Double(start)) * source.value), Self.longest)
        var time = Int((elapsed / timeBase.value).rounded())
        if let rate {
            let place = Int((elapsed * rate.value).rounded())
            let exact = place * rate.denominator * (timeBase.denominator / rate.numerator)
            if abs(Double(exact) * timeBase.value - elapsed) < source.value * 1.001 { time = exact }
        }
        time = max(time, last + 1)
        last = time
        return time
    }

    /// A time in microseconds.
    package func microseconds(_ time: Int) -> Int { Int((Double(time) * timeBase.value * 1e6).rounded()) }
}
