import SilhouetteCLI
import Testing

@Suite("Benchmark settings")
struct BenchSettingsTests {
    private func parse(_ arguments: String...) throws(UsageError) -> BenchSettings? {
        guard case .run(let settings) = try Subcommand.bench.parse(arguments, into: BenchSettings()) else { return nil }
        return settings
    }

    @Test("Batch sizes and precisions are lists; what stands there twice counts once")
    func lists() throws {
        let settings = try #require(
            try parse("--batch", "1,4,16,4", "--precision=fp16,fp32", "--compare", "a.json", "--report", "b.html"))
        #expect(settings.batches == [1, 4, 16])
        #expect(settings.precisions == [.float16, .float32])
        #expect(settings.comparedFile == "a.json")
        #expect(settings.reportFile == "b.html")
        #expect(try parse("--iterations", "1000000", "--layers")?.profiledRunCount == 1000)
        #expect(try parse("--iterations", "7", "--layers")?.profiledRunCount == 7)
        let defaults = try #require(try parse())
        #expect(defaults.batches == [1] && defaults.precisions == [.float32])
    }

    @Test(
        "What is wrong is named",
        arguments: [
            (["--batch", "1,,2"], "--batch needs whole numbers from 1 to 256, not ''"),
            (["--batch", "1,257"], "--batch needs whole numbers from 1 to 256, not '257'"),
            (["--batch", "0"], "--batch needs whole numbers from 1 to 256, not '0'"),
            (
                ["--precision", "fp32;fp16"],
                "--precision is fp32, fp16 or both with a comma between them, not 'fp32;fp16'"
            ),
            (
                ["--precision", "fp32,fp16", "-d", "cpu"],
                "--precision fp16 needs a Vulkan device; the processor computes in fp32"
            ),
            (["--scope", "call", "x.png", "--batch", "1,2"], "--scope call runs one picture at a time"),
            (
                ["--report", "-"],
                "--report needs the name of a file, as standard output has the figures, not '-'"
            ),
            (["--report", "out/"], "--report needs the name of a file, not of a folder: 'out/'"),
            (["--compare="], "--compare needs a OLD.json, not an empty text"),
        ])
    func errors(arguments: [String], message: String) {
        #expect(throws: UsageError(message)) { try Subcommand.bench.parse(arguments, into: BenchSettings()) }
    }
}
