import Testing
import Video

@Suite("Times of frames")
struct FilmClockTests {
    private func times(_ timestamps: [Int], source: Rational, rate: Rational?) -> (unit: Rational, times: [Int]) {
        var clock = FilmClock(source: source, rate: rate)
        return (clock.timeBase, timestamps.map { clock.time(of: $0) })
    }

    private func fraction(_ numerator: Int, _ denominator: Int) throws -> Rational {
        try #require(Rational(numerator, denominator))
    }

    @Test("A constant rate that was rounded to milliseconds comes back exactly", arguments: [(30, 1), (30_000, 1001)])
    func constant(numerator: Int, denominator: Int) throws {
        let rate = try fraction(numerator, denominator)
        // As Matroska stores it, and from a start that was rounded too.
        let stamps = (0..<1000).map { Int(((Double($0) + 7) * 1000 / rate.value).rounded()) }
        let result = times(stamps, source: try fraction(1, 1000), rate: rate)
        let seconds = result.times.map { Double($0) * result.unit.value }
        for (index, second) in seconds.enumerated() { #expect(abs(second - Double(index) / rate.value) < 1e-9) }
    }

    @Test("Varying times stay what they are, exact ones to the tick")
    func varying() throws {
        let stamps = [0, 3000, 9000, 9001, 12_345, 90_000]
        let result = times(stamps, source: try fraction(1, 90_000), rate: try fraction(30, 1))
        #expect(result.unit == (try fraction(1, 90_000)))
        #expect(result.times == [0, 3000, 9000, 9001, 12_345, 90_000])
        let milliseconds = times([0, 50, 120, 180], source: try fraction(1, 1000), rate: try fraction(30, 1))
        let seconds = milliseconds.times.map { Double($0) * milliseconds.unit.value }
        for (second, exact) in zip(seconds, [0, 0.05, 0.12, 0.18]) { #expect(abs(second - exact) < 1e-9) }
    }

    @Test("A frame that is missing leaves its gap")
    func gap() throws {
        let result = times([0, 33, 67, 200, 233], source: try fraction(1, 1000), rate: try fraction(30, 1))
        let places = result.times.map { Double($0) * result.unit.value * 30 }
        for (place, exact) in zip(places, [0.0, 1, 2, 6, 7]) { #expect(abs(place - exact) < 1e-9) }
    }

    @Test("Times begin at 0 and always grow")
    func order() throws {
        #expect(times([500, 500, 499, 501], source: try fraction(1, 1000), rate: nil).times == [0, 1, 2, 3])
    }

    @Test(
        "What is no camera's rate, or finer than its source, is not believed",
        arguments: [(90_000, 1, 90_000), (1000, 1, 1000), (60, 1, 100), (1, 10, 1000)])
    func disbelief(numerator: Int, denominator: Int, unit: Int) throws {
        #expect(FilmClock(source: try fraction(1, unit), rate: try fraction(numerator, denominator)).rate == nil)
    }

    @Test("Units finer than a microsecond become microseconds")
    func finest() throws {
        let result = times([0, 1_234_567_890], source: try fraction(1, 2_000_000_000), rate: nil)
        #expect(result.unit == (try fraction(1, 1_000_000)))
        #expect(result.times == [0, 617_284])
    }

    @Test("Times of damaged films, far beyond all integers, only go on", arguments: [nil, Rational(25, 1)])
    func damaged(rate: Rational?) throws {
        let far = 1 << 60
        for source in [try fraction(1, 1000), try fraction(1, 1), try fraction(Int(Int32.max), 1)] {
            var clock = FilmClock(source: source, rate: rate)
            let times = [0, 1, far, -far, far].map { clock.time(of: $0) }
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
            let microseconds = times.map { clock.microseconds($0) }
            #expect(zip(microseconds, microseconds.dropFirst()).allSatisfy { $0 < $1 })
        }
    }
}

@Suite("Fractions")
struct RationalTests {
    @Test("They are in lowest terms, so that equal ones are equal")
    func lowest() throws {
        let rate = try #require(Rational(50, 2))
        #expect(rate == Rational(25, 1))
        #expect(rate.description == "25/1")
        #expect(rate.inverse.description == "1/25")
        #expect(Rational(60_000, 2002) == Rational(30_000, 1001))
        #expect(Rational(1 << 30, 3)?.value == Double(1 << 30) / 3)
    }

    @Test("Neither part is 0, negative, or more than ffmpeg's are", arguments: [(0, 1), (1, 0), (-1, 2), (1, 1 << 31)])
    func range(numerator: Int, denominator: Int) {
        #expect(Rational(numerator, denominator) == nil)
    }
}

@Suite("Names with numbers")
struct NumberedNameTests {
    @Test(
        "Their places are found",
        arguments: [
            ("a-%05d.png", "a-00042.png"), ("%d.png", "42.png"), ("x%y/%03d", "x%y/042"), ("a/%01d.png", "a/42.png"),
        ])
    func places(pattern: String, name: String) {
        #expect(NumberedName(pattern)?.path(42) == name)
    }

    @Test(
        "What has no place, or more than one, is none",
        arguments: ["a.png", "a%.png", "%5d.png", "%s.png", "%d-%d.png", "%d/a.png", "%00d.png", "%099d.png", "%"])
    func refusals(pattern: String) {
        #expect(NumberedName(pattern) == nil)
    }
}
