import ModelGraph
import TestSupport
import Testing

@Suite("Seeded generator")
struct SeededGeneratorTests {
    @Test("gives the published numbers of SplitMix64")
    func publishedNumbers() {
        // Rosetta Code, "Pseudo-random numbers/Splitmix64", seed 1234567.
        var generator = SeededGenerator(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ]
        #expect(expected.map { _ in generator.next() } == expected)
    }

    @Test("draws from the whole range and never outside it")
    func range() {
        var generator = SeededGenerator(seed: 3)
        let values = (0..<10_000).map { _ in generator.uniform(-2...6) }
        #expect(values.allSatisfy { (-2...6).contains($0) })
        #expect(values.min()! < -1.98 && values.max()! > 5.98)
        let mean = values.reduce(0, +) / 10_000
        #expect(abs(mean - 2) < 0.1)
        #expect(Set((0..<100).map { _ in generator.integer(-2...2) }) == [-2, -1, 0, 1, 2])
    }
}
