import Base
import Foundation
import Imaging
import SilhouetteCLI
import TestSupport
import Testing

@Suite("The program: video", .needsFFmpeg)
struct VideoTests {
    private func video(
        _ arguments: String..., in folder: String, input: Data = Data(), environment: [String: String] = [:]
    ) throws -> Program.Outcome {
        try Program.run(
            ["video", "-m", Program.model, "-d", "cpu"] + arguments, in: folder, environment: environment, input: input)
    }

    /// Films that were made, by what they were made with: most tests take the same two.
    private static let films = Locked<[[String]: Data]>([:])

    /// A film of a second, with sound unless told otherwise.
    @discardableResult
    private func film(_ path: String, sound: Bool = true, seconds: Int = 1) throws -> String {
        let tone = sound ? ["-f", "lavfi", "-i", "sine=d=\(seconds)", "-c:a", "aac"] : []
        let arguments =
            ["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=\(seconds)"] + tone + [
                "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
            ]
        try Self.films.withLock { films in
            if let film = films[arguments] {
                try film.write(to: URL(fileURLWithPath: path))
            } else {
                films[arguments] = try Data(contentsOf: URL(fileURLWithPath: FFmpeg.make(path, arguments)))
            }
        }
        return path
    }

    @Test("Every kind of film, with all frames and the sound where it can have one")
    func formats() throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4")
            for (name, output, codec) in [
                ("b.mp4", "overlay", "h264"), ("b.mov", "cutout", "prores"), ("b.mkv", "cutout", "ffv1"),
                ("b.webm", "cutout", "vp9"), ("b.gif", "overlay", "gif"),
            ] {
                let outcome = try video("a.mp4", "-o", name, "--output", output, in: folder)
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                #expect(outcome.text.hasPrefix("a.mp4 -> \(name): 10 frames, "))
                #expect(try FFmpeg.streams("\(folder)/\(name)", "v", "codec_name").first?["codec_name"] == codec)
                #expect(try FFmpeg.times("\(folder)/\(name)").count == 10)
                #expect(try FFmpeg.streams("\(folder)/\(name)", "a", "codec_name").count == (name == "b.gif" ? 0 : 1))
            }
            #expect(try fileNames(in: folder).count == 6)
        }
    }

    @Test("A film with more tags than anybody reads is refused, and not waited for", .timeLimit(.minutes(2)))
    func longTags() throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4", sound: false)
            let tag = String(repeating: "z", count: 120_000)
            func ffmpeg(_ arguments: [String]) throws {
                let outcome = try Program.run(
                    executable: "/usr/bin/env", ["ffmpeg", "-v", "error", "-y"] + arguments, in: folder)
                try #require(outcome.exitCode == 0, "\(outcome.errors)")
            }
            let tags = (0..<10).flatMap { ["-map", "0:v", "-metadata:s:v:\($0)", "alpha_mode=\(tag)"] }
            try ffmpeg(["-i", "a.mp4"] + tags + ["-c", "copy", "b.mkv"])
            try ffmpeg(["-i", "b.mkv", "-map", "0", "-map", "0", "-map", "0", "-c", "copy", "c.mkv"])
            let outcome = try video("c.mkv", "-o", "d.mkv", in: folder)
            #expect(outcome.exitCode == 1)
            #expect(
                outcome.errors
                    == "silhouette video: c.mkv: cannot be read as video: it has more than 1 MiB of streams and tags\n")
        }
    }

    @Test("What is read is never replaced, whatever it is called")
    func inputsUntouched() throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4", sound: false)
            #expect(try video("a.mp4", "-o", "f-%05d.png", in: folder).exitCode == 0)
            symlink(".", "\(folder)/here")
            try FileManager.default.copyItem(atPath: "\(folder)/f-00003.png", toPath: "\(folder)/one-00003.png")
            try FileManager.default.copyItem(atPath: Program.model, toPath: "\(folder)/model.mp4")
            func files() throws -> [Data] {
                try fileNames(in: folder).filter { $0 != "here" }.map {
                    try Data(contentsOf: URL(filePath: "\(folder)/\($0)"))
                }
            }
            let before = try files()
            for arguments in [
                ["f-%05d.png", "-o", "f-%05d.png"], ["f-%05d.png", "-o", "./f-%05d.png"],
                ["f-%05d.png", "-o", "here/f-%05d.png"],
                ["one-00003.png", "-o", "one-%05d.png"],
                ["a.mp4", "--background", "one-00003.png", "-o", "one-%05d.png"],
                ["a.mp4", "-o", "./a.mp4"], ["a.mp4", "-o", "model.mp4", "-m", "model.mp4"],
            ] {
                let outcome = try Program.run(["video", "-m", Program.model, "-d", "cpu"] + arguments, in: folder)
                #expect(outcome.exitCode == 2, "\(arguments): \(outcome.errors)")
                #expect(outcome.errors.contains("would replace"), "\(arguments): \(outcome.errors)")
            }
            #expect(try files() == before)
        }
    }

    @Test("Numbered pictures out and in again")
    func pictures() throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4", sound: false)
            #expect(try video("a.mp4", "-o", "p-%03d.png", "--output", "cutout", in: folder).exitCode == 0)
            #expect(try fileNames(in: folder) == ["a.mp4"] + (1...10).map { "p-0\($0 < 10 ? "0" : "")\($0).png" })
            let image = try ImageFile.read(path: "\(folder)/p-010.png").image
            #expect(image.width == 64 && image.height == 48 && image.format == .rgba)
            #expect(try video("p-%03d.png", "-o", "b.mp4", "--input-rate", "5", in: folder).exitCode == 0)
            #expect(try FFmpeg.times("\(folder)/b.mp4").last == 1.8)
        }
    }

    @Test("Frames on standard output, and nothing else there")
    func raw() throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4", sound: false)
            #expect(try video("a.mp4", "-o", "-", "--format", "rgb24", in: folder).output.count == 10 * 64 * 48 * 3)
            let cutout = try video("a.mp4", "-o", "-", "--format", "rgba", "--output", "cutout", in: folder)
            #expect(cutout.output.count == 10 * 64 * 48 * 4)
            let film = try video("a.mp4", "-o", "-", "--format", "yuv4mpeg", in: folder)
            #expect(film.exitCode == 0 && film.output.starts(with: Data("YUV4MPEG2 W64 H48 F10:1".utf8)))
        }
    }

    @Test("--smoothing says how much of an edge comes from the frames before")
    func smoothing() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/model.safetensors", TinyModel.brightness(side: 65, threshold: 0.5).file())
            // From dark to bright, and each frame a little brighter: the edge goes to the left.
            try FFmpeg.make(
                "\(folder)/a.mkv", "-f", "lavfi", "-i", "color=s=64x48:r=10:d=0.4,format=gray,geq=lum=60+2*X+5*N",
                "-c:v",
                "ffv1")
            func opacities(_ arguments: String...) throws -> [Int] {
                let outcome = try Program.run(
                    [
                        "video", "-m", "model.safetensors", "-d", "cpu", "a.mkv", "-o", "-", "--format", "rgba",
                        "--output",
                        "cutout", "--classes", "class1",
                    ] + arguments, in: folder)
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                let frame = 64 * 48 * 4
                return stride(from: 0, to: outcome.output.count, by: frame).map { start in
                    stride(from: start + 3, to: start + frame, by: 4).reduce(0) { $0 + Int(outcome.output[$1]) }
                }
            }
            let (alone, usual, strong) = try (
                opacities("--smoothing", "0"), opacities(), opacities("--smoothing", "0.9")
            )
            #expect(alone.count == 4 && usual[0] == alone[0] && strong[0] == alone[0])
            for index in 1..<4 { #expect(strong[index] < usual[index] && usual[index] < alone[index]) }
        }
    }

    @Test("Small holes in the subject are closed, unless --keep-holes leaves them")
    func holes() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/model.safetensors", TinyModel.brightness(side: 65, threshold: 0.5).file())
            // Bright, with a dark spot of 3 x 3 pixels.
            try FFmpeg.make(
                "\(folder)/a.mkv", "-f", "lavfi", "-i",
                "color=s=96x72:r=10:d=0.2,format=gray,geq=lum=255-250*lt(abs(X-48)\\,2)*lt(abs(Y-36)\\,2)", "-c:v",
                "ffv1")
            func least(_ arguments: String...) throws -> UInt8 {
                let outcome = try Program.run(
                    [
                        "video", "-m", "model.safetensors", "-d", "cpu", "a.mkv", "-o", "-", "--format", "rgba",
                        "--output", "cutout", "--classes", "class1",
                    ] + arguments, in: folder)
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                return stride(from: 3, to: outcome.output.count, by: 4).map { outcome.output[$0] }.min() ?? 0
            }
            #expect(try least() == 255)
            #expect(try least("--keep-holes") < 128)
        }
    }

    @Test("A film through a pipe keeps its sound and its times")
    func pipe() throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4")
            let outcome = try #require(try shell("cat a.mp4 | video - -o b.mp4", in: folder))
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(outcome.text.hasPrefix("standard input -> b.mp4: 10 frames"))
            #expect(try FFmpeg.times("\(folder)/b.mp4") == FFmpeg.times("\(folder)/a.mp4"))
            #expect(try FFmpeg.sound("\(folder)/b.mp4") == FFmpeg.sound("\(folder)/a.mp4"))
            // A file that was redirected is a file.
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/a.mp4"))
            #expect(try video("-", "-o", "c.mp4", "--start", "0.5", in: folder, input: bytes).exitCode == 0)
            #expect(try FFmpeg.times("\(folder)/c.mp4").count == 5)
        }
    }

    /// Runs a line of the shell with the program's `video` as `video`; nil where it has not ended after a minute.
    private func shell(_ line: String, in folder: String) throws -> Program.Outcome? {
        let outcome = try Program.run(
            executable: "/usr/bin/timeout",
            ["-s", "KILL", "60", "/bin/sh", "-c", "video() { \"$0\" video -m \"$MODEL\" -d cpu \"$@\"; }; \(line)"]
                + [Program.path], in: folder, environment: ["MODEL": Program.model])
        return outcome.exitCode == 137 || outcome.exitCode == -9 ? nil : outcome
    }

    @Test(
        "A film through a pipe that is shorter than what ffprobe looks at",
        arguments: [
            ("a.ts", 10, ["-c:v", "libx264", "-pix_fmt", "yuv420p"]), ("a.mjpeg", 10, ["-c:v", "mjpeg"]),
            ("a.h264", 10, ["-c:v", "libx264", "-pix_fmt", "yuv420p"]), ("a.png", 1, ["-frames:v", "1"]),
        ])
    func shortPipe(name: String, frameCount: Int, codec: [String]) throws {
        try withScratchFolder { folder in
            try FFmpeg.make("\(folder)/\(name)", ["-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=1"] + codec)
            let outcome = try #require(try shell("cat \(name) | video - -o b.mkv", in: folder))
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
            #expect(try FFmpeg.times("\(folder)/b.mkv").count == frameCount)
        }
    }

    @Test(
        "An input that ends without a byte is no film",
        arguments: [": | video -", "video - </dev/null", "mkfifo p; : >p & video p"])
    func emptyPipe(line: String) throws {
        try withScratchFolder { folder in
            let outcome = try #require(try shell("\(line) -o b.mkv", in: folder))
            #expect(outcome.exitCode == 1)
            #expect(outcome.errorLines.count == 1)
            #expect(outcome.errors.contains(": nothing could be read: there is nothing in it"), "\(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/b.mkv"))
        }
    }

    @Test(
        "With few open files it works, or says in one line what there is too few of",
        arguments: [8, 10, 12, 16, 24, 64])
    func openFiles(limit: Int) throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4")
            let outcome = try #require(try shell("ulimit -n \(limit); video a.mp4 -o b.mkv", in: folder))
            if outcome.exitCode == 0 {
                #expect(try FFmpeg.times("\(folder)/b.mkv").count == 10)
                return
            }
            // Pipes to two programs, the film, and what the model takes.
            #expect(limit < 24, "\(outcome.errors)")
            #expect(outcome.exitCode == 1)
            #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains("Too many open files"), "\(outcome.errors)")
            #expect(try fileNames(in: folder) == ["a.mp4"])
        }
    }

    @Test("Backgrounds: a colour, another film")
    func backgrounds() throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4", sound: false)
            try FFmpeg.make(
                "\(folder)/red.mkv", "-f", "lavfi", "-i", "color=red:s=30x50:r=7:d=0.3", "-c:v", "ffv1", "-pix_fmt",
                "bgr0")
            // The small model takes everything here for background.
            for arguments in [["--background", "#ff0000"], ["--background-video", "red.mkv"]] {
                let outcome = try Program.run(
                    [
                        "video", "-m", Program.model, "-d", "cpu", "a.mp4", "-o", "-", "--format", "rgb24", "--classes",
                        "sofa",
                    ]
                        + arguments, in: folder)
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                #expect(outcome.output.count == 10 * 64 * 48 * 3)
                let pixels = Array(outcome.output.suffix(64 * 48 * 3))
                let redCount = stride(from: 0, to: pixels.count, by: 3).count {
                    pixels[$0] > 240 && pixels[$0 + 1] < 12
                }
                #expect(redCount > 64 * 48 / 2, "\(arguments)")
            }
        }
    }

    /// What a process that runs has written, to files and to other processes.
    private func writtenByteCount(_ process: Process) throws -> Int {
        let lines = try String(contentsOfFile: "/proc/\(process.processIdentifier)/io", encoding: .utf8).split(
            separator: "\n")
        return lines.first { $0.hasPrefix("wchar: ") }.flatMap { Int($0.dropFirst(7)) } ?? 0
    }

    @Test("Ctrl-C leaves the frames until then as a whole film with as much sound; exit code 130")
    func interruption() throws {
        try withScratchFolder { folder in
            // Ten minutes, so that it is not done before.
            try FFmpeg.make(
                "\(folder)/a.mp4", "-stream_loop", "59", "-i", film("\(folder)/b.mp4", seconds: 10), "-c", "copy")
            try FileManager.default.removeItem(atPath: "\(folder)/b.mp4")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: Program.path)
            process.arguments = ["video", "-m", Program.model, "-d", "cpu", "a.mp4", "-o", "b.mp4"]
            process.currentDirectoryURL = URL(fileURLWithPath: folder)
            let errors = Pipe()
            process.standardError = errors
            // What a shell starts in the background is deaf to Ctrl-C, and so is what that starts.
            let inherited = signal(SIGINT, SIG_DFL)
            try process.run()
            signal(SIGINT, inherited)
            // Until it has handed on twenty frames.
            for _ in 0..<1000 where try writtenByteCount(process) < 20 * 64 * 48 * 3 {
                Thread.sleep(forTimeInterval: 0.01)
            }
            #expect(try fileNames(in: folder) == ["a.mp4"])
            process.interrupt()
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 130)
            if text.contains("before the first frame") {
                #expect(try fileNames(in: folder) == ["a.mp4"])
                return
            }
            let times = try FFmpeg.times("\(folder)/b.mp4")
            #expect(text == "silhouette video: ended early: b.mp4 has the \(times.count) frames until then\n")
            let sound = try #require(try FFmpeg.times("\(folder)/b.mp4", "a").last)
            #expect(abs(sound - times.last!) < 0.25)
        }
    }

    @Test("A damaged film: what could be read is written, exit code 1")
    func damaged() throws {
        try withScratchFolder { folder in
            let bytes = try Data(contentsOf: URL(fileURLWithPath: film("\(folder)/a.mp4", sound: false, seconds: 3)))
            try makeFile("\(folder)/b.mp4", Array(bytes.prefix(bytes.count * 3 / 4)))
            let outcome = try video("b.mp4", "-o", "c.mp4", in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.errorLines.count == 1 && outcome.errors.hasPrefix("silhouette: b.mp4: is damaged: "))
            #expect((1..<30).contains(try FFmpeg.times("\(folder)/c.mp4").count))
        }
    }

    @Test(
        "What cannot be is one line, and leaves nothing",
        arguments: [
            (["absent.mp4", "-o", "b.mp4"], 1), (["text.mp4", "-o", "b.mp4"], 1), ([".", "-o", "b.mp4"], 1),
            (["a.mp4"], 2), (["-o", "b.mp4"], 2), (["a.mp4", "a.mp4", "-o", "b.mp4"], 2),
            (["a.mp4", "-o", "a.mp4"], 2),
            (["a.mp4", "-o", "b.txt"], 2), (["a.mp4", "-o", "b.png"], 2), (["a.mp4", "-o", "."], 2),
            (["a.mp4", "-o", "b.mp4", "--output", "cutout"], 2), (["a.mp4", "-o", "-"], 2),
            (["a.mp4", "-o", "-", "--format", "rgb24", "--output", "cutout"], 2),
            (["a.mp4", "-o", "b.mp4", "--format", "rgb24"], 2), (["a.mp4", "-o", "b.mp4", "--quality", "52"], 2),
            (["a.mp4", "-o", "b.gif", "--quality", "5"], 2), (["a.mp4", "-o", "b.mp4", "--start", "1:60"], 2),
            (["a.mp4", "-o", "b.mp4", "--duration", "0"], 2), (["a.mp4", "-o", "b.mp4", "--start", "100"], 1),
            (["a.mp4", "-o", "absent/b.mp4"], 1), (["a.mp4", "-o", "b.mp4", "--max-pixels", "100"], 1),
            (["a.mp4", "-o", "b.mp4", "--background-video", "absent.mp4"], 1),
            (["a.mp4", "-o", "text.mp4", "--background-video", "text.mp4"], 2),
            (["a.mp4", "-o", "text.mp4", "--background", "./text.mp4"], 2),
            (["a.mp4", "-o", String(repeating: "b", count: 300) + ".mp4"], 1),
            (["a.mp4", "-o", "b.mp4", "--background-video", "a.mp4", "--background", "red"], 2),
            (["a.mp4", "-o", "b.mp4", "--background-video", "a.mp4", "--background-fit", "tile"], 2),
            (["a.mp4", "-o", "b.mp4", "--background-video", "a.mp4", "--output", "overlay"], 2),
            (["a.mp4", "-o", "b.mp4", "--smoothing", "0.5"], 2), (["a.mp4", "-o", "b.mp4", "--keep-holes"], 2),
            (["a.mp4", "-o", "b.mp4", "--classes", "unicorn"], 2),
            (["a.mp4", "-o", "b.mp4", "--input-size", "12"], 2),
            (["a.mp4", "-o", "b.mp4", "--input-size", "64x48"], 2), (["a.mp4", "-o", "b.mp4", "--input-rate", "5"], 2),
            (["a.mp4", "-o", "b.mp4", "--output", "mask"], 2),
        ] as [([String], Int32)])
    func refusals(arguments: [String], exitCode: Int32) throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4", sound: false)
            try makeFile("\(folder)/text.mp4", Array("text".utf8))
            let outcome = try Program.run(["video", "-m", Program.model, "-d", "cpu"] + arguments, in: folder)
            #expect(outcome.exitCode == exitCode, "\(outcome.errors)")
            #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.output.isEmpty)
            #expect(try fileNames(in: folder) == ["a.mp4", "text.mp4"])
        }
    }

    @Test(
        "What there is not is named",
        arguments: [
            (["-o", "b.mp4", "--start", "100"], "nothing 100.0 s after the beginning of the film, which has "),
            (["-o", "/dev/video9999"], "'/dev/video9999' does not exist; the kernel module v4l2loopback"),
        ])
    func absences(arguments: [String], words: String) throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4", sound: false)
            let outcome = try Program.run(["video", "a.mp4", "-m", Program.model, "-d", "cpu"] + arguments, in: folder)
            #expect(outcome.exitCode != 0 && outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    @Test("Without the programs it says what to install; a file size limit leaves nothing")
    func surroundings() throws {
        try withScratchFolder { folder in
            try film("\(folder)/a.mp4", sound: false, seconds: 5)
            let without = try video("a.mp4", "-o", "b.mp4", in: folder, environment: ["PATH": "/nowhere"])
            #expect(without.exitCode == 1)
            #expect(without.errors.contains("the program ffprobe is needed and not installed (apt-get install ffmpeg)"))
            // The thread sanitiser maps files of its own, which the limit would cut.
            guard ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil else { return }
            let limited = try Program.run(
                executable: "/bin/sh",
                [
                    "-c", "ulimit -f 8; \"$0\" video -m \"$1\" -d cpu a.mp4 -o b.mp4 --quality 0", Program.path,
                    Program.model,
                ], in: folder)
            #expect(limited.exitCode == 1)
            #expect(limited.errorLines.count == 1, "\(limited.errors)")
            #expect(limited.errors.contains("b.mp4: cannot be written: "))
            #expect(try fileNames(in: folder) == ["a.mp4"])
        }
    }
}

@Suite("The words of video")
struct VideoWordTests {
    @Test(
        "Times of a film",
        arguments: [
            ("0", 0), ("1.5", 1.5), ("90", 90), ("1:30", 90), ("1:02:03.25", 3723.25), ("100:00", 6000), ("x", nil),
            ("", nil), ("1:", nil), (":1", nil), ("1:60", nil), ("1:60:00", nil), ("-1", nil), ("1e3", nil),
            ("1:2:3:4", nil), ("nan", nil), ("99999999", nil), ("1:1.5:1", nil),
        ] as [(String, Double?)])
    func times(text: String, seconds: Double?) {
        #expect(filmSeconds(text) == seconds)
    }

    @Test("Progress")
    func progress() {
        #expect(progressLine(50, of: 1394, seconds: 4) == "50 of about 1394 frames, 12.5 a second, 1:48 left")
        #expect(progressLine(50, of: 40, seconds: 4) == "50 frames, 12.5 a second")
        #expect(progressLine(1, of: nil, seconds: 0) == "1 frame, 1000.0 a second")
        #expect(clockTime(0) == "0:00" && clockTime(59.1) == "1:00" && clockTime(3723) == "1:02:03")
    }
}
