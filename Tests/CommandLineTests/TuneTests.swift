import Foundation
import TestSupport
import Testing

@Suite("The program: --tune")
struct TuneTests {
    private func segment(_ arguments: [String], in folder: String) throws -> Program.Outcome {
        try Program.run(
            ["segment", "-m", Program.model, Program.picture, "-d", "vulkan", "--output", "scores"] + arguments,
            in: folder)
    }

    @Test("Scores are the same, byte for byte; what was found is told, and known the next time")
    func sameBytes() throws {
        try withScratchFolder { folder in
            let plain = try segment(["-o", "off.npy", "--tune", "off", "--verbose"], in: folder)
            // Without a device there is nothing to tune.
            guard plain.exitCode == 0 else { return }
            #expect(!plain.errors.contains("tuning:"), "\(plain.errors)")
            let expected = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/off.npy"))
            for (level, words) in [("quick", "measured"), ("full", "measured"), ("quick", "knew")] {
                let tuned = try segment(["-o", "tuned.npy", "--tune", level, "--verbose"], in: folder)
                #expect(tuned.exitCode == 0)
                let line = try #require(tuned.errorLines.first { $0.hasPrefix("tuning: ") }, "\(tuned.errors)")
                #expect(line.contains(level) && line.contains(words), "\(line)")
                #expect(!tuned.errors.contains("not used any more"), "\(tuned.errors)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/tuned.npy")) == expected)
            }
            let kept = try fileNames(in: folder + "/.cache/silhouette/vulkan")
            #expect(kept.contains { $0.hasSuffix(".tuning") }, "\(kept)")
        }
    }

    @Test("A level that there is not, and a processor that is to be tuned: one line, exit code 2")
    func usage() throws {
        try withScratchFolder { folder in
            for command in ["segment", "bench", "serve", "verify"] {
                for arguments in [["--tune", "fast"], ["--tune", "quick", "-d", "cpu"]] {
                    let operand = command == "segment" ? [Program.picture] : []
                    let outcome = try Program.run([command] + operand + arguments, in: folder)
                    #expect(outcome.exitCode == 2)
                    #expect(outcome.errorLines.count == 1 && outcome.errors.contains("--tune"), "\(outcome.errors)")
                }
            }
            #expect(try fileNames(in: folder).isEmpty)
        }
    }
}
