import Foundation
import Imaging
import Silhouette
import SilhouetteCLI
import TestSupport
import Testing

@Suite("Options of effects")
struct EffectOptionTests {
    /// What goes with which output: `mask`, `overlay`, `cutout`, `composite`, `confidence`, `scores`.
    private static let table: [(option: [String], outputs: Set<String>)] = [
        (["--background", "blur:2"], ["composite"]),
        (["--background-fit", "tile"], []),  // without a picture behind
        (["--opacity", "0.9"], ["overlay"]),
        (["--outline", "2"], ["overlay"]),
        (["--class-color", "class1=#123456"], ["overlay", "mask"]),
        (["--edges", "guided"], ["overlay", "mask", "cutout", "composite"]),
        (["--edges", "plain"], ["overlay", "mask", "cutout", "composite"]),
        (["--threshold", "0.9"], ["overlay", "mask", "cutout", "composite"]),
        (["--shift", "-3"], ["overlay", "mask", "cutout", "composite"]),
        (["--feather", "6"], ["overlay", "cutout", "composite"]),
        (["--classes", "class1"], ["overlay", "mask", "cutout", "composite", "confidence"]),
        (["--drop-classes", "class1"], ["overlay", "mask", "cutout", "composite", "confidence"]),
        (["--mask-size", "model"], ["mask", "confidence", "scores"]),
        (["--fit", "letterbox"], ["overlay", "mask", "cutout", "composite", "confidence", "scores"]),
    ]

    /// A picture that is wider than high, so that a fit shows, of soft discs, bright and dark, and a model that sees them.
    private func prepare(_ folder: String) throws {
        var bytes: [UInt8] = []
        for y in 0..<65 {
            for x in 0..<130 {
                let (dx, dy) = (abs(x - 65) - 32, y - 32)
                let distance = Double(dx * dx + dy * dy).squareRoot()
                let part = max(-1, min(1, (22 - distance) / 9)) * 50 + 50
                let level = Int(128 + (x < 65 ? part : -part)) + (x * 7 + y * 3) % 5
                bytes += [UInt8(level), UInt8(level * 9 / 10), UInt8(min(255, level + 10))]
            }
        }
        let picture = try Image(width: 130, height: 65, format: .rgb, bytes: bytes)
        try OutputFile.write(picture.encoded(as: .png), to: "\(folder)/in.png")
        try OutputFile.write(TinyModel.brightAndDark(side: 65).file(), to: "\(folder)/model.safetensors")
    }

    @Test("Every pair of output and option is taken and shows, or is refused", arguments: SegmentOutput.allCases)
    func pairs(_ output: SegmentOutput) throws {
        try withScratchFolder { folder in
            try prepare(folder)
            func made(_ options: [String]) throws -> (code: Int32, errors: [String], files: [Data]) {
                let target = "\(folder)/out-\(UUID().uuidString)"
                var arguments = ["segment", "in.png", "-m", "model.safetensors", "-d", "cpu", "-o", target + "/"]
                arguments += ["--output", output.rawValue] + options
                if output == .composite, !options.contains("--background") { arguments += ["--background", "#00ff00"] }
                let outcome = try Program.run(arguments, in: folder)
                let names = (try? FileManager.default.contentsOfDirectory(atPath: target))?.sorted() ?? []
                return (
                    outcome.exitCode, outcome.errorLines,
                    try names.map { Data($0.utf8) + (try Data(contentsOf: URL(fileURLWithPath: "\(target)/\($0)"))) }
                )
            }
            let plain = try made([])
            #expect(plain.code == 0 && !plain.files.isEmpty, "\(plain.errors)")
            for (option, outputs) in Self.table {
                let result = try made(option)
                if outputs.contains(output.rawValue) {
                    #expect(result.code == 0, "\(output) \(option): \(result.errors)")
                    // Guided edges are what a cut-out and a composite have by themselves.
                    let isDefault = option == ["--edges", "guided"] && (output == .cutout || output == .composite)
                    #expect((result.files != plain.files) != isDefault, "\(output) \(option) changes nothing")
                } else {
                    #expect(result.code == 2 && result.errors.count == 1, "\(output) \(option): \(result.errors)")
                    #expect(result.files.isEmpty)
                    #expect(result.errors.first?.contains(option[0]) == true, "\(result.errors)")
                }
            }
        }
    }

    @Test("A background alone makes a composite, and a picture behind may lie in three ways")
    func backgrounds() throws {
        try withScratchFolder { folder in
            try prepare(folder)
            let behind = try Image(width: 3, height: 2, format: .rgb, bytes: (0..<18).map { UInt8($0 * 14) })
            try OutputFile.write(behind.encoded(as: .png), to: "\(folder)/behind.png")
            var results: Set<Data> = []
            for options in [
                ["--background", "behind.png"], ["--background", "behind.png", "--background-fit", "contain"],
                ["--background", "behind.png", "--background-fit", "tile"], ["--background", "gray"],
                ["--background", "dim:0.3"], ["--background", "blur:3"], ["--background", "navy"],
                ["--background", "gradient:90:red,#0000ff,white"],
            ] {
                let outcome = try Program.run(
                    ["segment", "in.png", "-m", "model.safetensors", "-d", "cpu", "-o", "-"] + options, in: folder)
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                results.insert(outcome.output)
            }
            #expect(results.count == 8)
        }
    }

    @Test("Keeping every class, background too, gives the photograph back")
    func everything() throws {
        try withScratchFolder { folder in
            let all = (0..<21).map(String.init).joined(separator: ",")
            let picture = try ImageFile.read(path: Program.picture).image.flattened().resized(width: 90, height: 40)
            try OutputFile.write(picture.encoded(as: .png), to: "\(folder)/in.png")
            for options in [
                ["--output", "cutout"], ["--background", "blur"], ["--background", "red", "--shift", "-5"],
            ] {
                let outcome = try Program.run(
                    ["segment", "in.png", "-m", Program.model, "-d", "cpu", "--classes", all, "-o", "x.png"]
                        + options, in: folder)
                #expect(outcome.exitCode == 0, "\(outcome.errors)")
                #expect(try ImageFile.read(path: "\(folder)/x.png").image.converted(to: .rgb) == picture)
            }
        }
    }

    @Test(
        "What cannot be read is told in one line",
        arguments: [
            (["--background", "blurr"], "did you mean blur?"), (["--background", "#12"], "#rrggbb"),
            (["--background", "blur:0"], "0.5 to 500"), (["--background", "blur:nan"], "0.5 to 500"),
            (["--background", "dim:2"], "0 to 1"), (["--background", "gradient:x:red,blue"], "degrees"),
            (["--background", "gradient:red"], "2 to 64"), (["--background", "absent.png"], "absent.png"),
            (["--background", ""], "#rrggbb"), (["--background", "red", "--background-fit", "tile"], "picture"),
            (["--output", "composite"], "--background"), (["--threshold", "1"], "0.05 to 0.95"),
            (["--shift", "inf"], "-200 to 200"), (["--feather", "-1"], "0 to 200"), (["--edges", "giuded"], "guided"),
            (["--class-color", "person"], "person=#ff8000"), (["--class-color", "unicorn=red"], "unicorn"),
            (["--drop-classes", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20"], "leaves no class"),
            (["--classes", "1", "--drop-classes", "2"], "give one of them"),
        ])
    func faults(_ options: [String], _ words: String) throws {
        try withScratchFolder { folder in
            let outcome = try Program.run(
                ["segment", Program.picture, "-m", Program.model, "-d", "cpu", "-o", "x.png"] + options, in: folder)
            #expect(outcome.exitCode != 0 && outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
            #expect(try fileNames(in: folder).isEmpty)
        }
    }

    @Test("What was found is counted among the classes that were asked for")
    func findings() throws {
        try withScratchFolder { folder in
            func line(_ options: [String]) throws -> String {
                try Program.run(
                    ["segment", Program.picture, "-m", Program.model, "-d", "cpu"] + options, in: folder
                ).text
            }
            let all = try line([])
            let found = all.split(separator: ": ").last!.split(separator: ", ").map { $0.split(separator: " ")[0] }
            let first = String(try #require(found.first))
            let one = try line(["--classes", first])
            #expect(one.contains(first) && found.dropFirst().allSatisfy { !one.contains($0) }, "\(one)")
        }
    }
}
