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

    @Test("A page that could not be written is refused before anything is measured")
    func destinations() throws {
        try withScratchFolder { folder in
            try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
            for (name, target) in [("a", "b"), ("b", "a"), ("lost", "nowhere/x.html")] {
                try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: target)
            }
            for name in ["model.safetensors", "photo.png"] {
                try FileManager.default.copyItem(
                    atPath: name == "photo.png" ? Program.picture : Program.model, toPath: "\(folder)/\(name)")
            }
            let long = String(repeating: "x", count: 300)
            for (path, reason) in [
                ("pipe", "is a pipe or the like; a report needs the name of a file"),
                ("a", "Too many levels of symbolic links"), (long, "File name too long"),
                ("lost", "is a link that leads nowhere"), ("photo.png/x.html", "Not a directory"),
                ("absent/x.html", "No such file or directory"), ("model.safetensors", "is the file of the model"),
                ("./photo.png", "is the file of the photograph"),
            ] {
                // So many runs that the test would not end if they began.
                let outcome = try Program.run(
                    [
                        "bench", "-m", "model.safetensors", "photo.png", "-d", "cpu", "--iterations", "1000000",
                        "--report", path,
                    ], in: folder)
                #expect(outcome.exitCode == 1)
                #expect(outcome.errors == "silhouette bench: \(path): cannot be written: \(reason)\n")
            }
        }
    }

    @Test("Figures that cannot be written are one line and exit code 1; a reader that goes away is no line")
    func outputs() throws {
        try withScratchFolder { folder in
            for (redirection, message) in [
                (">/dev/full", "silhouette: standard output: cannot be written: No space left on device\n"),
                (">&-", "silhouette: standard output: cannot be written: Bad file descriptor\n"),
                ("> >(exec <&-)", ""),
            ] {
                for command in [
                    "$BENCH --report page.html 2> >(grep -v warning >&2)", "\(Program.path) --help",
                    "\(Program.path) model -m \(Program.model)", "\(Program.path) devices",
                ] {
                    // The reader needs a moment to go.
                    let pause = redirection.contains("(") ? "sleep 0.2; " : ""
                    let outcome = try shell("(\(pause)\(command)) \(redirection)", in: folder)
                    #expect(outcome.exitCode == 1, "\(command) \(redirection)")
                    #expect(outcome.errors == message, "\(command) \(redirection)")
                }
            }
            // The page does not depend on it.
            #expect(try fileNames(in: folder).contains("page.html"))
        }
    }
}
