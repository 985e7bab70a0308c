import Foundation
import TestSupport
import Testing

/// Files that `bench` is given, and streams that take nothing.
@Suite("The program: bench, faults")
struct BenchFaultTests {
    private static let quick = ["-m", Program.model, "-d", "cpu", "--iterations", "5", "--warmup", "0"]

    private func bench(_ arguments: [String], in folder: String) throws -> Program.Outcome {
        try Program.run(["bench"] + Self.quick + arguments, in: folder)
    }

    private func shell(_ script: String, in folder: String) throws -> Program.Outcome {
        try Program.run(
            executable: "/bin/bash", ["-c", script], in: folder,
            environment: ["BENCH": "\(Program.path) bench \(Self.quick.joined(separator: " "))"])
    }

    @Test("Earlier results come from a file, a pipe or a process substitution")
    func pipes() throws {
        try withScratchFolder { folder in
            let old = try bench(["--json"], in: folder)
            try makeFile("\(folder)/old.json", Array(old.output))
            #expect(old.text.contains("\"weights\": \""))
            for words in ["old.json", "<(cat old.json)", "/dev/stdin < <(cat old.json)", "pipe & cat old.json > pipe"] {
                let outcome = try shell("mkfifo pipe 2>/dev/null; $BENCH --compare \(words); wait", in: folder)
                #expect(outcome.text.contains("compared with "), "\(words): \(outcome.errors)")
            }
        }
    }

    @Test("Earlier results without an end, or too long")
    func endless() throws {
        try withScratchFolder { folder in
            let outcome = try bench(["--compare", "/dev/zero"], in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors == "silhouette bench: /dev/zero: cannot be read: has more than 16 MiB\n")
        }
    }
}
