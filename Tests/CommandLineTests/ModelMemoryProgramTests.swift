import Foundation
import ModelGraph
import TestSupport
import Testing

/// The memory of a model as it is computed before, held against what the program has taken, and refused.
@Suite("The program: memory of a model", .serialized)
struct ModelMemoryProgramTests {
    @Test(
        "No network takes more than is computed before, and what is computed means something",
        .disabled(if: testMemoryFactor > 1, "a sanitiser's own memory is not in what is computed"))
    func bound() throws {
        try withScratchFolder { folder in
            // Without a network to speak of: what the program itself takes.
            var least = 0
            for graph in [
                try SmallGraphs.wide(side: 8, channels: 16), try SmallGraphs.grouped(layerCount: 8, channels: 512),
                try SmallGraphs.wide(side: 512, channels: 64), try SmallGraphs.gathering(channels: 128, kernel: 32),
            ] {
                let file = "\(graph.name).safetensors"
                try makeFile("\(folder)/\(file)", ModelFileWriter(graph).bytes)
                let run = try Program.run(
                    ["segment", Program.picture, "-v", "-d", "cpu", "-m", file, "--output", "mask", "-o", "m.png"],
                    in: folder)
                #expect(run.exitCode == 0, "\(graph.name): \(run.errors)")
                let bound = try #require(Self.number("memory of the model: up to ", run.errors), "\(run.errors)")
                let peak = try #require(Self.number("\nmemory: ", run.errors), "\(run.errors)")
                if least == 0 {
                    #expect(bound <= 4)
                    least = peak
                } else {
                    // Pages that are counted in whole, and code that the smallest did not run.
                    let grown = peak - least
                    #expect(grown <= bound + 4, "\(graph.name): took \(grown) MiB, computed were \(bound)")
                    #expect(bound * 10 <= grown * 13 + 160, "\(graph.name): took \(grown) MiB, computed were \(bound)")
                }
            }
            #expect(least > 0)
        }
    }

    /// The first whole number behind some words.
    private static func number(_ words: String, _ text: String) -> Int? {
        guard let start = text.range(of: words)?.upperBound else { return nil }
        return Int(text[start...].prefix { $0.isNumber })
    }

    /// Every command that reads a model, with arguments that let it begin.
    private static let commands =
        [
            ["segment", Program.picture, "-d", "cpu", "-o", "out.png"],
            ["serve", "-d", "cpu", "--port", "0"], ["model"], ["verify", "-d", "cpu"],
            ["bench", "-d", "cpu", "--iterations", "1"],
        ] + (FFmpeg.isInstalled ? [["video", "film.mkv", "-d", "cpu", "-o", "out.mkv"]] : [])

    @Test(
        "Every command refuses a model that takes too much, in one line that says how it is raised", arguments: commands
    )
    func refused(_ command: [String]) throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/index.html")
            if command[0] == "video" {
                try FFmpeg.make("\(folder)/film.mkv", "-f", "lavfi", "-i", "testsrc=size=64x48:duration=0.2")
            }
            try makeFile(
                "\(folder)/small.safetensors",
                ModelFileWriter(try SmallGraphs.grouped(layerCount: 8, channels: 512)).bytes)
            func run(_ limit: String) throws -> Program.Outcome {
                let web = command[0] == "serve" ? ["--web", folder] : []
                return try Program.run(
                    command + web + ["-m", "small.safetensors", "--max-model-memory", limit], in: folder)
            }
            let run = try run("70")
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.errorLines.count == 1, "\(run.errors)")
            #expect(
                run.errors.wholeMatch(
                    of:
                        /silhouette [a-z]+: small\.safetensors: takes up to [0-9]+ MiB of memory, more than the limit of 70 MiB; --max-model-memory raises it\n/
                ) != nil, "\(run.errors)")
            #expect(!(try fileNames(in: folder)).contains { $0.hasPrefix("out") })
        }
    }

    @Test("A batch and both devices of a comparison count")
    func several() throws {
        try withScratchFolder { folder in
            try makeFile(
                "\(folder)/wide.safetensors", ModelFileWriter(try SmallGraphs.wide(side: 256, channels: 16)).bytes)
            // 30 MiB: two maps of 4 MiB, five samplers of as much, and 1.5 of each picture and its scores.
            func status(_ arguments: String..., limit: Int) throws -> Int32 {
                try Program.run(
                    arguments + ["-d", "cpu", "-m", "wide.safetensors", "--max-model-memory", String(limit)], in: folder
                ).exitCode
            }
            let bench = ["--iterations", "1", "--warmup", "0"]
            #expect(try status("bench", bench[0], bench[1], bench[2], bench[3], limit: 35) == 0)
            #expect(try status("bench", bench[0], bench[1], bench[2], bench[3], "--batch", "1,8", limit: 35) == 1)
            #expect(try status("verify", limit: 35) == 1)
            #expect(try status("verify", limit: 70) == 0)
        }
    }
}
