import Base
import Foundation
import Imaging
import TestSupport
import Testing

/// What goes wrong around the program: names, pipes, streams that are closed, signals.
@Suite("The program: faults")
struct FaultTests {
    private func segment(_ arguments: String..., in folder: String) throws -> Program.Outcome {
        try Program.run(["segment", "-m", Program.model] + arguments, in: folder)
    }

    private func picture() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: Program.picture))) }

    @Test("A pipe in a folder is left out, and not waited for")
    func pipeInFolder() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/in/a.png", picture())
            try #require(mkfifo("\(folder)/in/b.png", 0o600) == 0)
            #expect(try segment("in", "-o", "out", in: folder).exitCode == 0)
            #expect(try fileNames(in: "\(folder)/out") == ["a.png"])
        }
    }

    @Test("Names that cannot be followed are failures, not silence: not UTF-8, a link that leads nowhere")
    func absentInFolder() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/in/a.png", picture())
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/in/b.png", withDestinationPath: "nowhere")
            let script = "cp '\(Program.picture)' in/$(printf 'z\\377').png"
            #expect(try Program.run(executable: "/bin/sh", ["-c", script], in: folder).exitCode == 0)
            let outcome = try segment("in", "-o", "out", in: folder)
            #expect(outcome.exitCode == 1)
            #expect(try fileNames(in: "\(folder)/out") == ["a.png"])
            #expect(
                outcome.errorLines == [
                    "silhouette: in/b.png: cannot be read: No such file or directory",
                    "silhouette: in/z\u{FFFD}.png: cannot be read: No such file or directory "
                        + "(file names have to be UTF-8: rename it)",
                    "silhouette: 2 of 3 photographs failed: in/b.png, in/z\u{FFFD}.png",
                ])
        }
    }

    @Test("A result whose name is not UTF-8 is refused, and not written under another one")
    func resultNames() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/a.png", picture())
            for option in ["-o \"$NAME\"", "-o\"$NAME\"", "--output-file=\"$NAME\""] {
                let script = "NAME=$(printf 'z\\377.png'); \"$0\" segment -m \"$1\" -d cpu a.png \(option)"
                let outcome = try Program.run(
                    executable: "/bin/sh", ["-c", script, Program.path, Program.model], in: folder)
                #expect(outcome.exitCode == 2)
                #expect(outcome.errorLines.count == 1 && outcome.errors.contains("is not UTF-8"), "\(outcome.errors)")
                #expect(try fileNames(in: folder) == ["a.png"])
            }
            // A replacement character is a character.
            #expect(try segment("a.png", "-o", "\u{FFFD}.png", in: folder).exitCode == 0)
            #expect(try fileNames(in: folder) == ["a.png", "\u{FFFD}.png"])
            // A link leads where it leads, or the result is refused.
            let link = "ln -s $(printf 'z\\377.png') b.png"
            #expect(try Program.run(executable: "/bin/sh", ["-c", link], in: folder).exitCode == 0)
            let outcome = try segment("a.png", "-o", "b.png", in: folder)
            #expect(outcome.exitCode == 1)
            #expect(
                outcome.errors == "silhouette: b.png: cannot be written: it is a link to a name that is not UTF-8\n")
            #expect(try fileNames(in: folder).count == 3)
        }
    }

    @Test("A file of the longest name is replaced, of whatever characters it is")
    func longNames() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/a.png", picture())
            // 251 or 252 bytes of the 255 that there may be: a flag has eight.
            for name in [
                String(repeating: "\u{1F1E9}\u{1F1EA}", count: 31), "a" + String(repeating: "\u{301}", count: 125),
            ] {
                for _ in 0..<2 {
                    let outcome = try segment("a.png", "-o", name + ".png", in: folder)
                    #expect(outcome.exitCode == 0, "\(outcome.errors)")
                }
            }
            #expect(try fileNames(in: folder).count == 3)
        }
    }

    /// Users that nobody is: what one may have is counted over all of its processes.
    private static let users = Locked(100_000 + 100 * Int(getpid() % 10_000))

    /// Runs the program as a user who may have so few threads.
    private func withThreads(_ limit: Int, _ command: String, in folder: String) throws -> Program.Outcome {
        let user = Self.users.withLock { user in
            defer { user += 1 }
            return user
        }
        // That user may not see the checkout.
        let script = """
            cp '\(Program.path)' silhouette; cp '\(Program.model)' m.safetensors; cp '\(Program.picture)' p.png
            chmod -R a+rwX . && HOME=$PWD && export HOME
            \(command.hasPrefix("serve") ? "timeout -s TERM 3" : "timeout -s KILL 60") \
                setpriv --reuid=\(user) --clear-groups prlimit --nproc=\(limit) ./silhouette \(command) \
                -m m.safetensors -d cpu
            """
        return try Program.run(executable: "/bin/sh", ["-c", script], in: folder)
    }

    private func expectNoThread(_ outcome: Program.Outcome) {
        #expect(outcome.exitCode == 1)
        #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("Resource temporarily unavailable"), "\(outcome.errors)")
    }

    @Test(
        "Where no thread can be had one line says so", .limitsThreads,
        // With one thread for the network the second one is had, and waits for photographs; the one that reads them is not. What
        // is no film is told by what ffprobe complains of, which a thread reads.
        arguments: [
            "segment p.png -o r.png", "segment --threads 1 p.png -o r.png", "video p.png -o r.mkv",
            "video m.safetensors -o r.mkv", "serve --port 0",
        ], [1, 2])
    func threadLimit(command: String, limit: Int) throws {
        try withScratchFolder { folder in
            expectNoThread(try withThreads(limit, command, in: folder))
            #expect(try fileNames(in: folder).allSatisfy { !$0.hasPrefix("r.") })
        }
    }

    @Test("Whichever of its threads a server cannot have, one line says so", .limitsThreads)
    func serverThreads() throws {
        var reasons: [String] = []
        for limit in 1...50 {
            let outcome = try withScratchFolder { try withThreads(limit, "serve --port 0", in: $0) }
            if outcome.exitCode == 1 {
                expectNoThread(outcome)
                reasons.append(outcome.errors)
            } else {
                // It runs until it is ended.
                break
            }
        }
        // The one that reads the model, those that compute, and the one that has the connections.
        #expect(reasons.contains { $0.contains("the device cpu cannot be used") })
        #expect(reasons.last?.contains("the server cannot run") == true)
        #expect(reasons.count < 50)
    }

    @Test("An input without an end takes no more memory than its limit")
    func endlessInput() throws {
        // The sanitisers take more themselves.
        let variables = ProcessInfo.processInfo.environment
        guard variables["TSAN_OPTIONS"] == nil, variables["ASAN_OPTIONS"] == nil else { return }
        try withScratchFolder { folder in
            // 1.75 GiB, for 1 GiB and the program.
            let script = """
                ulimit -v 1835008
                (head -c 64 '\(Program.picture)'; cat /dev/zero) | \
                    '\(Program.path)' segment -m '\(Program.model)' -d cpu - -o x.png
                """
            let outcome = try Program.run(executable: "/bin/sh", ["-c", script], in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors.contains("more than 1073741824 bytes, which is the limit"), "\(outcome.errors)")
        }
    }

    @Test("Names with line breaks and terminal codes are written visibly, names in any script as they are")
    func strangeNames() throws {
        try withScratchFolder { folder in
            let names = ["-a.png", "a\u{1B}[31m\nb.png", "e\u{301}.png", "\u{E9}.png", "写真.png"]
            for name in names { try makeFile("\(folder)/in/\(name)", picture()) }
            let outcome = try segment("in", "-o", "out", in: folder)
            #expect(outcome.exitCode == 0)
            #expect(try fileNames(in: "\(folder)/out") == fileNames(in: "\(folder)/in"))
            #expect(outcome.text.split(separator: "\n").count == names.count)
            #expect(outcome.text.contains("in/a\\u{1B}[31m\\nb.png -> out/a\\u{1B}[31m\\nb.png: "))
            #expect(outcome.text.contains("in/写真.png -> "))
            let absent = try segment("no\nsuch\u{7}\u{202E}\u{2028}.png", in: folder)
            #expect(
                absent.errors
                    == "silhouette: no\\nsuch\\u{07}\\u{202E}\\u{2028}.png: cannot be read: No such file or directory\n"
            )
        }
    }

    @Test("A program that is started without standard streams opens no file in their place")
    func closedStreams() throws {
        try withScratchFolder { folder in
            // It waits for a picture in the pipe while its descriptors are looked at; then it is given one.
            let script = """
                mkfifo pipe
                '\(Program.path)' segment -m '\(Program.model)' pipe -o x.png <&- >&- 2>&- &
                exec 9> pipe
                for stream in 0 1 2; do readlink /proc/$!/fd/$stream; done
                cat '\(Program.picture)' >&9
                exec 9>&-
                wait $!
                """
            let outcome = try Program.run(executable: "/bin/sh", ["-c", script], in: folder)
            #expect(outcome.text == "/dev/null\n/dev/null\n/dev/null\n")
            #expect(try ImageFile.read(path: "\(folder)/x.png").image.size == PixelSize(width: 65, height: 65))
        }
    }

    @Test("A program that is killed while it writes leaves no part of a file", arguments: [SIGINT, SIGTERM, SIGKILL])
    func killed(signal: Int32) throws {
        try withScratchFolder { folder in
            // 1,000 x 1,000 pixels of 21 scores: 84 MB, so that there is time.
            let large = try ImageFile.read(path: Program.picture).image.resized(width: 1000, height: 1000)
            try OutputFile.write(large.encoded(as: .png), to: "\(folder)/large.png")
            try FileManager.default.createDirectory(atPath: "\(folder)/out", withIntermediateDirectories: true)
            // Job control, since a shell without it has its background jobs ignore SIGINT.
            let script = """
                set -m
                '\(Program.path)' segment -m '\(Program.model)' large.png --output scores -o out/ &
                until readlink /proc/$!/fd/* | grep -q /out/; do kill -0 $! || exit 3; done
                kill -\(signal) $!
                wait $!
                """
            let outcome = try Program.run(executable: "/bin/bash", ["-c", script], in: folder)
            let left = try fileNames(in: "\(folder)/out")
            if outcome.exitCode == 128 + signal {
                #expect(left.isEmpty)
            } else {
                // It was faster than the signal.
                #expect(outcome.exitCode == 0 || outcome.exitCode == 3)
                #expect(left == ["large.npy"])
            }
        }
    }

    @Test("A limit on the size of files is a failed write like a full disc")
    func fileSizeLimit() throws {
        try withScratchFolder { folder in
            // 64 MiB, for 84 MB of scores. (A program under the thread sanitiser cannot live with a few kilobytes.)
            let large = try ImageFile.read(path: Program.picture).image.resized(width: 1000, height: 1000)
            try OutputFile.write(large.encoded(as: .png), to: "\(folder)/large.png")
            let script = """
                ulimit -f 65536
                '\(Program.path)' segment -m '\(Program.model)' large.png --output scores -o x.npy
                """
            let outcome = try Program.run(executable: "/bin/bash", ["-c", script], in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors == "silhouette: x.npy: cannot be written: File too large\n")
            #expect(try fileNames(in: folder) == ["large.png"])
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that run the program with few threads.
    fileprivate static var limitsThreads: Self {
        .enabled("only root can start another user's process, and the thread sanitiser has a thread itself") {
            getuid() == 0 && ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil
        }
    }
}
