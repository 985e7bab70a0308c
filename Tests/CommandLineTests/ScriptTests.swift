import Foundation
import TestSupport
import Testing

@Suite("Scripts")
struct ScriptTests {
    private func script(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws
        -> Program.Outcome
    {
        try withScratchFolder { folder in
            try Program.run(
                executable: Checkout.path("scripts/\(name)"), arguments, in: folder, environment: environment)
        }
    }

    @Test("A wrong command line is one line and exit code 2")
    func usage() throws {
        for (name, arguments) in [
            ("demo", ["--nonsense"]), ("demo", ["a.jpg", "b.jpg"]), ("test", ["--nonsense"]), ("test", ["--filter"]),
            ("test", ["--sanitize"]), ("test", ["--sanitize", "memory"]), ("test", ["--full", "--sanitize", "thread"]),
            ("install", []), ("api-listing", ["--nonsense"]), ("api-listing", ["Nonsense"]),
            ("api-listing", ["--check", "--docs"]),
        ] {
            let outcome = try script(name, arguments)
            #expect(outcome.errorLines.count == 1, "\(name): \(outcome.errors)")
            #expect(outcome.exitCode == (arguments.contains("a.jpg") ? 1 : 2))
            #expect(outcome.output.isEmpty)
        }
        #expect(try script("setup", ["nonsense"]).errorLines.count == 1)
    }

    /// A program that prints figures, or what `extra` makes of a command.
    private func standIn(in folder: String, extra: String = "") throws -> String {
        let script = """
            #!/bin/sh
            \(extra)
            case "$1" in
            bench) echo '{"results": [{"latency_ms": {"median": 2.5}, "device_ms": null}]}' ;;
            verify)
                for name in fp32 fp16; do
                    echo "$name, each layer alone, error at most 1e-3"
                    echo "ok   whole network: 100 % of 9 pixels"
                done
                echo 'fp32: all 2 layers and the network are within bounds'
                echo 'fp16: all 2 layers and the network are within bounds' ;;
            segment) echo 'read 1.0 ms, preprocess 1.0 ms, network 1.0 ms, masks 1.0 ms, write 1.0 ms' >&2 ;;
            esac
            """
        try makeFile("\(folder)/program", Array(script.utf8))
        #expect(chmod("\(folder)/program", 0o755) == 0)
        return "\(folder)/program"
    }

    private func gpuReport(in folder: String, extra: String = "", _ more: [String] = []) throws -> Program.Outcome {
        for name in ["a/m.safetensors", "b/m.safetensors"] { try makeFile("\(folder)/\(name)", Array("{".utf8)) }
        return try Program.run(
            executable: Checkout.path("scripts/gpu-report"),
            [
                "--program", try standIn(in: folder, extra: extra), "-m", "a/m.safetensors", "-m", "b/m.safetensors",
                "-m", "./a/m.safetensors", "-o", "out", "--quick",
            ] + more, in: folder)
    }

    @Test("gpu-report keeps models of one name apart, removes what an earlier call left, and says which precision")
    func reportFiles() throws {
        try withScratchFolder { folder in
            for name in ["bench-old-fp32-1.json", "ncnn-m.jsonl", "notes.txt"] {
                try makeFile("\(folder)/out/\(name)", Array("old".utf8))
            }
            let outcome = try gpuReport(in: folder)
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            let names = Set(try fileNames(in: "\(folder)/out"))
            #expect(
                names.isSuperset(of: [
                    "notes.txt", "report.md", "verify-m.txt", "verify-m-2.txt", "bench-m-fp16-1.json",
                    "bench-m-2-fp32-1.json",
                ]))
            #expect(names.isDisjoint(with: ["bench-old-fp32-1.json", "ncnn-m.jsonl", "bench-m-3-fp32-1.json"]))
            for precision in ["fp32", "fp16"] {
                #expect(outcome.text.contains("    \(precision): ok   whole network: 100 %"))
            }
        }
    }

    @Test("gpu-report tells what was killed and what holds no figures, and keeps what a peer has said before")
    func reportFailures() throws {
        try withScratchFolder { folder in
            let peer = """
                #!/bin/sh
                echo '{"what": "peer", "batch": 1, "median_ms": 4}'
                echo '{"what": "peer", "batch": 2, "median_ms": NaN}'
                echo '{broken'
                kill -KILL $$
                """
            try makeFile("\(folder)/peer", Array(peer.utf8))
            #expect(chmod("\(folder)/peer", 0o755) == 0)
            let outcome = try gpuReport(
                in: folder,
                extra: "case \"$*\" in verify*) kill -SEGV $$ ;; *a/m*fp16*) echo '{'; exit ;; esac",
                ["--peers", "\(folder)/peer"])
            #expect(outcome.exitCode == 1 && outcome.errors.isEmpty, "\(outcome.errors)")
            for line in [
                "verify-m.txt: ended by SIGSEGV", "bench-m-fp16-1.json: holds no figures",
                "ncnn-m.jsonl: ended by SIGKILL", "ncnn-m.jsonl: a line that is no figure: {broken",
                "| Silhouette fp32 | 1 | 2.500 |  | 400 |", "| peer | 1 | 4.000 |  | 250 |",
            ] {
                #expect(outcome.text.contains(line + "\n"), "\(line)")
            }
        }
    }

    @Test("measure keeps its figures where the other program has no end, and a picture of a folder is broken")
    func measureFailures() throws {
        try withScratchFolder { folder in
            let program = try standIn(in: folder, extra: "case \"$2\" in */bad.png) exit 1 ;; esac")
            try makeFile("\(folder)/bin/ffmpeg", Array("#!/bin/sh\n".utf8))
            #expect(chmod("\(folder)/bin/ffmpeg", 0o755) == 0)
            for name in ["good.png", "bad.png"] { try makeFile("\(folder)/photos/\(name)", []) }
            let path = try #require(ProcessInfo.processInfo.environment["PATH"])
            func measure(_ peer: String) throws -> Program.Outcome {
                try Program.run(
                    executable: Checkout.path("scripts/measure"),
                    [
                        "--program", program, "--photo", "photos/good.png", "--photos", "photos", "--runs", "1",
                        "--limit",
                        "1", "--json", "--peer", peer,
                    ], in: folder, environment: ["PATH": "\(folder)/bin:\(path)"])
            }
            let endless = try measure("sh -c 'sleep 60; true'")
            #expect(endless.exitCode == 1)
            #expect(endless.errorLines.count == 1 && endless.errors.contains("not done after 1 s"), "\(endless.errors)")
            let document = try #require(try JSONSerialization.jsonObject(with: endless.output) as? [String: Any])
            #expect(Set(document.keys) == ["start", "network", "call", "folder", "failures"])
            #expect((document["folder"] as? [String: Any])?["left_out"] as? [String] == ["photos/bad.png"])
            let network = try #require(document["network"] as? [String: Double])
            #expect(network == ["noise_milliseconds": 2.5, "photograph_milliseconds": 2.5])
            #expect((document["call"] as? [[String: Any]])?.first?["milliseconds"] as? Double == 2.5)
            let quotes = try measure("echo 'x")
            #expect(quotes.exitCode == 2 && quotes.errors.contains("--peer: No closing quotation"))
            let other = try measure("echo median 5 ms")
            #expect(other.exitCode == 0 && other.text.contains("\"ratio\": 0.5"))
        }
    }

    @Test("A photograph that is not there is named")
    func absentPhotograph() throws {
        let outcome = try script("demo", ["absent.jpg"])
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors == "scripts/demo: absent.jpg: no such file\n")
    }

    @Test("A folder is refused: a demonstration has one result")
    func folder() throws {
        let outcome = try script("demo", ["."])
        #expect(outcome.exitCode == 1)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("scripts/demo: . is a folder"))
    }

    @Test("Help says how each script is used", arguments: ["demo", "test"])
    func help(name: String) throws {
        let outcome = try script(name, ["--help"])
        #expect(outcome.exitCode == 0)
        #expect(outcome.text.contains("scripts/\(name) ["))
    }

    @Test("Without a compiler one line says where it comes from")
    func noCompiler() throws {
        try withScratchFolder { folder in
            for tool in ["bash", "env", "dirname", "mktemp", "rm", "sed", "head"] {
                let found = try #require(
                    ["/usr/bin/", "/bin/"].map { $0 + tool }.first { FileManager.default.isExecutableFile(atPath: $0) })
                try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(tool)", withDestinationPath: found)
            }
            let outcome = try script("demo", [Program.picture], environment: ["PATH": folder])
            #expect(outcome.exitCode == 1)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.errors.contains("Swift is missing") && outcome.errors.contains("swift.org"))
        }
    }
}
