import Foundation
import Imaging
import TestSupport
import Testing

@Suite("The program: exit codes and messages")
struct ProgramTests {
    @Test(
        "Help and version go to standard output and succeed",
        arguments: [
            ["help"], ["--help"], ["-h"], ["help", "segment"], ["segment", "--help"], ["bench", "-h"],
            ["model", "--help"],
            ["--version"],
        ])
    func help(arguments: [String]) throws {
        try withScratchFolder { folder in
            let outcome = try Program.run(arguments, in: folder)
            #expect(outcome.exitCode == 0)
            #expect(outcome.text.contains("silhouette"))
            #expect(outcome.errors.isEmpty)
        }
    }

    @Test(
        "A command line that cannot be obeyed: one line, exit code 2, nothing written",
        arguments: [
            ["segmnet"], ["help", "segmnet"], ["segment"], ["segment", "x.png", "--ouput", "mask"],
            ["segment", "x.png", "--threads", "none"], ["segment", "x.png", "-d", "gpu"],
            ["segment", "x.png", "--output", "composite"], ["model", "a", "b"], ["model", "a", "-m", "b"],
            ["bench", "--scope", "call"],
            ["bench", "--precision", "fp16", "-d", "cpu"], ["bench", "--batch", "1,x"], ["bench", "--report", "-"],
        ])
    func usage(arguments: [String]) throws {
        try withScratchFolder { folder in
            let outcome = try Program.run(arguments, in: folder)
            #expect(outcome.exitCode == 2)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.hasPrefix("silhouette"))
            #expect(try fileNames(in: folder).isEmpty)
        }
    }

    @Test("There is a thread for each processor that the process may use, not for each that is there")
    func affinity() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let allowed = try #require(status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") })
        let first = String(allowed.drop { !$0.isNumber }.prefix { $0.isNumber })
        try withScratchFolder { folder in
            let outcome = try Program.run(
                executable: "/usr/bin/taskset",
                ["-c", first, Program.path, "segment", Program.picture, "-m", Program.model, "--verbose"], in: folder)
            #expect(outcome.exitCode == 0)
            #expect(outcome.errors.contains(", 1 thread)"), "\(outcome.errors)")
        }
    }

    @Test("Without arguments the overview is shown, as an error")
    func nothing() throws {
        try withScratchFolder { folder in
            let outcome = try Program.run([], in: folder)
            #expect(outcome.exitCode == 2)
            #expect(outcome.errors.contains("commands:"))
        }
    }

    @Test("Without a model one line says how to get one")
    func noModel() throws {
        try withScratchFolder { folder in
            for arguments in [["segment", Program.picture], ["model"], ["bench"]] {
                let outcome = try Program.run(arguments, in: folder, environment: ["SILHOUETTE_HOME": folder])
                #expect(outcome.exitCode == 1)
                #expect(outcome.errorLines.count == 1)
                #expect(outcome.errors.contains("Weights/fetch"))
            }
            #expect(try fileNames(in: folder).isEmpty)
        }
    }

    @Test("A model comes from SILHOUETTE_MODEL, from the cache, or from the checkout; the latter two are told")
    func models() throws {
        try withScratchFolder { folder in
            let included = try Program.run(["segment", Program.picture], in: folder)
            #expect(included.exitCode == 0)
            #expect(
                included.errorLines == [
                    "model: silhouette-deeplabv3 (comes with Silhouette)"
                ])
            let shown = try Program.run(["model"], in: folder)
            #expect(shown.text.hasPrefix("silhouette-deeplabv3\n"))
            #expect(shown.text.contains("comes with Silhouette"))
            let named = try Program.run(
                ["model"], in: folder, environment: ["SILHOUETTE_MODEL": Program.model])
            #expect(named.exitCode == 0)
            #expect(named.text.contains("background"))
            let bytes = try Data(contentsOf: URL(fileURLWithPath: Program.model))
            try makeFile("\(folder)/.cache/silhouette/some.safetensors", Array(bytes))
            #expect(try Program.run(["model", "--layers"], in: folder).exitCode == 0)
            let cached = try Program.run(["segment", Program.picture], in: folder)
            #expect(cached.errorLines == ["model: mini (found in the cache)"])
            let broken = try Program.run(["model", Program.picture], in: folder)
            #expect(broken.exitCode == 1)
            #expect(broken.errorLines.count == 1)
            #expect(broken.errors.contains("mini.input.png"))
        }
    }

    @Test(
        "A closed standard output is an error, not a sudden death",
        arguments: [
            "help", "segment \(Program.picture) -m \(Program.model) -o -",
        ])
    func closedOutput(command: String) throws {
        try withScratchFolder { folder in
            let script = "'\(Program.path)' \(command) >&-; echo $?; '\(Program.path)' \(command) > /dev/full; echo $?"
            let outcome = try Program.run(executable: "/bin/sh", ["-c", script], in: folder)
            #expect(outcome.text == "1\n1\n")
        }
    }
}

@Suite("The program: segment")
struct SegmentProgramTests {
    private func segment(_ arguments: String..., in folder: String, input: Data = Data()) throws -> Program.Outcome {
        try Program.run(["segment", "-m", Program.model] + arguments, in: folder, input: input)
    }

    @Test("The result lies in the current folder, and a line says what was found")
    func overlay() throws {
        try withScratchFolder { folder in
            let outcome = try segment(Program.picture, in: folder)
            #expect(outcome.exitCode == 0)
            #expect(outcome.errors.isEmpty)
            #expect(outcome.text.hasPrefix("\(Program.picture) -> mini.input.overlay.png: "))
            #expect(try fileNames(in: folder) == ["mini.input.overlay.png"])
            let overlay = try ImageFile.read(path: "\(folder)/mini.input.overlay.png").image
            #expect(overlay.size == PixelSize(width: 65, height: 65))
        }
    }

    @Test("A mask holds the class indices")
    func mask() throws {
        try withScratchFolder { folder in
            #expect(
                try segment(Program.picture, "--output", "mask", "--mask-size", "model", "-o", "m.png", in: folder)
                    .exitCode == 0)
            let expected = try ImageFile.readLabels(path: Checkout.path("Tests/Fixtures/mini.labels.png"))
            #expect(try ImageFile.readLabels(path: "\(folder)/m.png") == expected)

            #expect(
                try segment(Program.picture, "--output", "mask", "--classes", "15,cat", "-o", "n.png", in: folder)
                    .exitCode == 0)
            let chosen = try ImageFile.readLabels(path: "\(folder)/n.png").bytes
            #expect(zip(chosen, expected.bytes).allSatisfy { $0 == ([15, 8].contains($1) ? $1 : 0) })
        }
    }

    @Test("A cut-out shows the chosen classes alone")
    func cutout() throws {
        try withScratchFolder { folder in
            let labels = try ImageFile.readLabels(path: Checkout.path("Tests/Fixtures/mini.labels.png")).bytes
            let chosen = try #require(labels.first { $0 != 0 })
            #expect(
                try segment(
                    Program.picture, "--output", "cutout", "--edges", "plain", "--classes", "\(chosen)", in: folder
                ).exitCode == 0)
            let cutout = try ImageFile.read(path: "\(folder)/mini.input.cutout.png").image
            #expect(cutout.format == .rgba)
            for (pixel, label) in labels.enumerated() {
                #expect((cutout.bytes[4 * pixel + 3] >= 128) == (label == chosen))
            }
        }
    }

    @Test("Confidences are a file a class; scores are a NumPy array")
    func planes() throws {
        try withScratchFolder { folder in
            let confidence = try segment(
                Program.picture, "--output", "confidence", "--classes", "person,0", in: folder)
            #expect(confidence.exitCode == 0)
            #expect(try fileNames(in: folder) == ["mini.input.background.png", "mini.input.person.png"])
            #expect(
                try segment(Program.picture, "--output", "scores", "--mask-size", "model", "-o", "out/", in: folder)
                    .exitCode == 0)
            #expect(try NPYFile(path: "\(folder)/out/mini.input.npy").shape == [65, 65, 21])
        }
    }

    @Test("A photograph by standard input, and the model, are not replaced either")
    func readFiles() throws {
        try withScratchFolder { folder in
            for (script, lost) in [
                (
                    "cp '\(Program.picture)' t.png; \"$0\" segment -m '\(Program.model)' -d cpu - -o t.png < t.png",
                    "photograph"
                ),
                (
                    "cp '\(Program.model)' m; ln -s m m.png; \"$0\" segment -m m -d cpu '\(Program.picture)' -o m.png",
                    "model"
                ),
            ] {
                let outcome = try Program.run(executable: "/bin/sh", ["-c", script, Program.path], in: folder)
                #expect(outcome.exitCode == 2)
                #expect(outcome.errors.contains("would replace the \(lost)"), "\(outcome.errors)")
            }
            let read = try ["t.png", "m"].map { try Data(contentsOf: URL(filePath: "\(folder)/\($0)")) }
            #expect(try read == [Program.picture, Program.model].map { try Data(contentsOf: URL(filePath: $0)) })
        }
    }

    @Test("Standard input and output, and nothing else on standard output")
    func streams() throws {
        try withScratchFolder { folder in
            let picture = try Data(contentsOf: URL(fileURLWithPath: Program.picture))
            let piped = try segment("-", "-o", "-", in: folder, input: picture)
            #expect(piped.exitCode == 0)
            #expect(piped.errors.isEmpty)
            #expect(try segment(Program.picture, "-o", "x.png", in: folder).exitCode == 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/x.png")) == piped.output)
            #expect(try segment("-", in: folder, input: picture).exitCode == 0)
            #expect(try fileNames(in: folder) == ["stdin.overlay.png", "x.png"])
        }
    }

    @Test("A broken photograph does not stop the others; it is named, counted, and the exit code tells")
    func failures() throws {
        try withScratchFolder { folder in
            let picture = try Data(contentsOf: URL(fileURLWithPath: Program.picture))
            try makeFile("\(folder)/in/a.png", Array(picture))
            try makeFile("\(folder)/in/b.png", Array(picture.prefix(100)))
            try makeFile("\(folder)/in/c.png", Array(picture))
            let outcome = try segment("in", "absent.jpg", "-o", "out", in: folder)
            #expect(outcome.exitCode == 1)
            #expect(try fileNames(in: "\(folder)/out") == ["a.png", "c.png"])
            #expect(outcome.text.split(separator: "\n").count == 2)
            #expect(outcome.errorLines.count == 3)
            #expect(outcome.errorLines[0].hasPrefix("silhouette: in/b.png: "))
            #expect(outcome.errorLines[1].hasPrefix("silhouette: absent.jpg: "))
            #expect(outcome.errorLines[2] == "silhouette: 2 of 4 photographs failed: in/b.png, absent.jpg")
        }
    }

    @Test("Two results in one file, or a result over a photograph: exit code 2, nothing written")
    func collisions() throws {
        try withScratchFolder { folder in
            let picture = Array(try Data(contentsOf: URL(fileURLWithPath: Program.picture)))
            try makeFile("\(folder)/a/x.png", picture)
            try makeFile("\(folder)/b/x.png", picture)
            #expect(try segment("a/x.png", "b/x.png", "-o", "out", in: folder).exitCode == 2)
            #expect(try segment("a", "-o", "a", in: folder).exitCode == 2)
            #expect(try segment("a/x.png", "-o", "x.gif", in: folder).exitCode == 2)
            #expect(try segment("a/x.png", "--classes", "unicorn", in: folder).exitCode == 2)
            #expect(try fileNames(in: folder) == ["a", "b"])
            #expect(try fileNames(in: "\(folder)/a") == ["x.png"])
        }
    }

    @Test("A result that cannot be written leaves nothing behind")
    func unwritable() throws {
        try withScratchFolder { folder in
            #expect(try segment(Program.picture, "-o", "absent/x.png", in: folder).exitCode == 1)
            #expect(try fileNames(in: folder).isEmpty)
            try makeFile("\(folder)/file")
            #expect(try segment(Program.picture, "-o", "file/", in: folder).exitCode == 1)
            #expect(try fileNames(in: folder) == ["file"])
        }
    }

    @Test("The pixel limit is checked, and the message says how to raise it")
    func pixelLimit() throws {
        try withScratchFolder { folder in
            let outcome = try segment(Program.picture, "--max-pixels", "4224", in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors.contains("65x65") && outcome.errors.contains("--max-pixels"))
            #expect(try segment(Program.picture, "--max-pixels", "4225", in: folder).exitCode == 0)
        }
    }
}

@Suite("The program: bench")
struct BenchProgramTests {
    @Test(
        "Both scopes give figures that make sense",
        arguments: [
            ["--threads", "1", "--batch", "2", "--layers"], ["--input", Program.picture],
            ["--scope", "call", Program.picture],
        ])
    func scopes(arguments: [String]) throws {
        let result: [String: Any] = try withScratchFolder { folder in
            let outcome = try Program.run(
                ["bench", "-m", Program.model, "--iterations", "3", "--warmup", "1", "--json"] + arguments, in: folder)
            try #require(outcome.exitCode == 0, "\(outcome.errors)")
            let document = try #require(
                JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
            let machine = try #require(document["machine"] as? [String: Any])
            #expect((machine["cpu"] as? String)?.isEmpty == false && machine["date"] is String)
            return try #require((document["results"] as? [[String: Any]])?.first)
        }
        let latency = try #require(result["latency_ms"] as? [String: Double])
        let values = ["min", "p25", "median", "p75", "p95", "p99", "max"].compactMap { latency[$0] }
        #expect(values.count == 7 && values == values.sorted() && values[0] > 0)
        #expect(try #require(result["peak_rss_bytes"] as? Int) > 1 << 20)
        #expect(try #require(result["first_run_ms"] as? Double) > 0)
        let layers = try #require(result["layers"] as? [[String: Any]])
        #expect(layers.isEmpty != arguments.contains("--layers"))
        #expect(result["scope"] as? String == (arguments.contains("call") ? "call" : "network"))
        #expect(try #require(result["gflops"] as? Double) > 0)
        #expect((result["latencies_ms"] as? [Double])?.count == 3)
        // The last is the making of masks, whose floor nobody knows.
        for layer in layers.dropLast() { #expect(layer["floor_ms"] as? Double ?? 0 >= 0, "\(layer)") }
    }

    @Test("A sweep, compared with itself, with a report")
    func sweep() throws {
        try withScratchFolder { folder in
            let sweep = ["bench", "-m", Program.model, "-d", "cpu", "--iterations", "9", "--batch", "1,3"]
            let old = try Program.run(sweep + ["--json"], in: folder)
            #expect(old.exitCode == 0)
            try makeFile("\(folder)/old.json", Array(old.output))
            let new = try Program.run(
                sweep + ["--layers", "--compare", "old.json", "--report", "page.html"], in: folder)
            // Whether it is slower is the machine's mood; that it is told is not.
            #expect((new.exitCode == 1) == new.text.contains("  slower\n"))
            #expect(new.text.contains("compared with old.json") && !new.text.contains("no counterpart"))
            #expect(try fileNames(in: folder) == ["old.json", "page.html"])
            let page = try String(contentsOfFile: "\(folder)/page.html", encoding: .utf8)
            #expect(page.hasPrefix("<!DOCTYPE html>") && page.contains("Throughput by batch"))
        }
    }

    @Test(
        "What cannot be done is found before anything is timed: one line, exit code 1, nothing written",
        arguments: [
            (["--compare", "absent.json"], "absent.json: cannot be read: No such file or directory"),
            (["--compare", "broken.json"], "broken.json: is not JSON, at byte 1: "),
            (["--compare", "."], ".: cannot be read: Is a directory"),
            (["--report", "absent/page.html"], "absent/page.html: cannot be written: No such file or directory"),
            (["--report", "."], ".: cannot be written: is a folder"),
        ])
    func problems(arguments: [String], message: String) throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/broken.json", Array("{".utf8))
            let outcome = try Program.run(
                ["bench", "-m", Program.model, "--iterations", "1000000"] + arguments, in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.output.isEmpty)
            #expect(outcome.errorLines.count == 1 && outcome.errors.hasPrefix("silhouette bench: " + message))
            #expect(try fileNames(in: folder) == ["broken.json"])
        }
    }

    @Test("The table is for people")
    func table() throws {
        try withScratchFolder { folder in
            let outcome = try Program.run(
                ["bench", "-m", Program.model, "--iterations", "1", "--layers"], in: folder)
            #expect(outcome.exitCode == 0)
            #expect(outcome.text.contains("latency") && outcome.text.contains("category map"))
        }
    }
}
