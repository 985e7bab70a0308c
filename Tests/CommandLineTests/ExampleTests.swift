import Foundation
import Imaging
import TestSupport
import Testing

/// The programs of `Examples`, run as a reader of theirs runs them.
@Suite("Examples")
struct ExampleTests {
    private static let names = try! FileManager.default.contentsOfDirectory(atPath: Checkout.path("Examples"))
        .filter { !$0.contains(".") }.sorted()
    private static let ffmpeg = "/usr/bin/ffmpeg"
    private static let hasFFmpeg = FileManager.default.isExecutableFile(atPath: ffmpeg)

    private func run(_ name: String, _ arguments: [String], in folder: String) throws -> Program.Outcome {
        let path = URL(fileURLWithPath: Program.path).deletingLastPathComponent().appendingPathComponent(name).path
        return try Program.run(
            executable: path, arguments, in: folder, environment: ["SILHOUETTE_MODEL": Program.model])
    }

    @Test("A wrong command line, or a file that is not there, is one line", arguments: names)
    func usage(name: String) throws {
        try withScratchFolder { folder in
            for arguments in [[], ["absent.jpg"], ["absent.jpg", "absent.png", "out.png"]] {
                let outcome = try run(name, arguments, in: folder)
                #expect(outcome.exitCode == 1)
                let lines = outcome.errorLines.filter { $0.hasPrefix("\(name): ") }
                #expect(lines.count == 1, "\(arguments): \(outcome.errors)")
                if arguments.isEmpty { #expect(lines.first?.hasPrefix("\(name): usage: \(name) ") == true) }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test("GettingStarted tells what it sees")
    func gettingStarted() throws {
        try withScratchFolder { folder in
            let outcome = try run("GettingStarted", [Program.picture], in: folder)
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
            let lines = outcome.text.split(separator: "\n")
            #expect(lines.count == 4)
            for (line, start) in zip(lines, ["21 classes on ", "in the middle: ", "most likely a person: ", "0 ms: "]) {
                #expect(line.hasPrefix(start))
            }
        }
    }

    @Test("PortraitBlur and BackgroundReplacement write pictures of the photograph's size")
    func pictures() throws {
        let photo = try ImageFile.read(path: Program.picture).image
        try withScratchFolder { folder in
            for (name, arguments) in [
                ("PortraitBlur", [Program.picture, "a.png"]), ("PortraitBlur", [Program.picture, "b.jpg", "3.5"]),
                ("BackgroundReplacement", [Program.picture, "#204060", "c.png"]),
                ("BackgroundReplacement", [Program.picture, Program.picture, "d.webp"]),
            ] {
                let outcome = try run(name, arguments, in: folder)
                #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(arguments): \(outcome.errors)")
                let file = arguments.last { $0.contains(".") && $0 != Program.picture } ?? ""
                let path = folder + "/" + (file == "3.5" ? "b.jpg" : file)
                #expect(try ImageFile.read(path: path).image.size == photo.size)
            }
            // The mini network sees no people anywhere, and a thing everywhere.
            let (blurred, kept) = (
                try ImageFile.read(path: "\(folder)/a.png").image, try ImageFile.read(path: "\(folder)/c.png").image
            )
            #expect(blurred.flattened() != photo.flattened() && kept.flattened() == photo.flattened())
            for arguments in [
                [Program.picture, "e.png", "0"], [Program.picture, "e.png", "many"], [Program.picture, "e"],
            ] {
                let outcome = try run("PortraitBlur", arguments, in: folder)
                #expect(outcome.exitCode == 1 && outcome.errorLines.count == 1, "\(arguments): \(outcome.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/e.png"))
        }
    }

    @Test("MasksAndCutouts writes both of every photograph, and names one that cannot be read")
    func masksAndCutouts() throws {
        let photo = try ImageFile.read(path: Program.picture).image
        try withScratchFolder { folder in
            let names = (0..<5).map { "\(folder)/\($0).png" }
            for name in names { try FileManager.default.copyItem(atPath: Program.picture, toPath: name) }
            let results = "\(folder)/results"
            try FileManager.default.createDirectory(atPath: results, withIntermediateDirectories: false)
            let outcome = try run("MasksAndCutouts", names + ["absent.png", results], in: folder)
            #expect(outcome.exitCode == 1)
            #expect(outcome.errorLines.count == 1 && outcome.errors.contains("MasksAndCutouts: absent.png: "))
            #expect(try FileManager.default.contentsOfDirectory(atPath: results).count == 10)
            for index in 0..<5 {
                let cutout = try ImageFile.read(path: "\(results)/\(index).cutout.png").image
                #expect(cutout.size == photo.size && cutout.format == .rgba)
                #expect(try ImageFile.readLabels(path: "\(results)/\(index).mask.png").size == photo.size)
            }
        }
    }

    @Test("LiveStream tells what it sees in each frame that it has time for", .enabled(if: hasFFmpeg))
    func liveStream() throws {
        try withScratchFolder { folder in
            let made = try Program.run(
                executable: Self.ffmpeg,
                ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x180:rate=10:duration=1", "video.mkv"], in: folder
            )
            #expect(made.exitCode == 0, "\(made.errors)")
            let outcome = try run("LiveStream", ["video.mkv"], in: folder)
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
            let lines = outcome.text.split(separator: "\n")
            #expect((1...10).contains(lines.count))
            #expect(lines.allSatisfy { $0.contains(" ms: ") && $0.hasSuffix(" dropped") })
        }
    }
}

/// Code that readers copy.
@Suite("Code in the documentation")
struct DocumentationTests {
    private static let articles = "Sources/Silhouette/Silhouette.docc"

    /// The blocks of Swift in a text, as lines without indentation.
    private func blocks(_ text: String) -> [[String]] {
        var blocks: [[String]] = []
        var block: [String]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```swift" {
                block = []
            } else if line.hasPrefix("```") {
                if let block { blocks.append(block) }
                block = nil
            } else {
                block?.append(line.trimmingCharacters(in: .whitespaces))
            }
        }
        return blocks
    }

    @Test("All of it is quoted from the examples, which are built and run")
    func quotations() throws {
        let files = FileManager.default
        let names = try files.subpathsOfDirectory(atPath: Checkout.path("Examples")).filter { $0.hasSuffix(".swift") }
        let sources = try names.map { name in
            try String(contentsOfFile: Checkout.path("Examples/\(name)"), encoding: .utf8)
                .split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let articles = try files.contentsOfDirectory(atPath: Checkout.path(Self.articles)).map {
            Self.articles + "/" + $0
        }
        var count = 0
        for name in articles.filter({ $0.hasSuffix(".md") }) + ["README.md", "docs/library.md"] {
            let text = try String(contentsOfFile: Checkout.path(name), encoding: .utf8)
            for block in blocks(text) {
                count += 1
                let isQuoted = sources.contains { source in
                    source.indices.contains { source[$0...].starts(with: block) }
                }
                #expect(isQuoted, "\(name): \(block.joined(separator: "\n"))")
            }
        }
        #expect(count > 5)
    }
}
