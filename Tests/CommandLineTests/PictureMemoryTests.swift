import Foundation
import Imaging
import TestSupport
import Testing

/// The memory of a photograph as it is computed before, held against what the program has taken.
@Suite(
    "Memory of a photograph", .serialized,
    .disabled(if: testMemoryFactor > 1, "a sanitiser's own memory is not in what is computed; ulimit -v leaves it none")
)
struct PictureMemoryTests {
    /// Noise: no encoder makes it smaller.
    static func noise(_ size: PixelSize) throws -> [UInt8] {
        var random = SeededGenerator(seed: 9)
        let bytes = (0..<size.pixelCount * 3).map { _ in UInt8.random(in: 0...255, using: &random) }
        return try Image(width: size.width, height: size.height, format: .rgb, bytes: bytes).encoded(as: .png)
    }

    /// With 48 megapixels where all tests are asked for, else with 6.
    private static let size =
        ProcessInfo.processInfo.environment["SILHOUETTE_TEST_FULL"].map { $0.isEmpty } ?? true
        ? PixelSize(width: 3000, height: 2000) : PixelSize(width: 8000, height: 6000)

    /// Every output and option that has memory of its own.
    private static let options = [
        "--output mask", "--output mask --mask-size model", "--output mask --edges guided", "--output mask --shift 5.5",
        "--output mask --fit tile", "--output cutout --fit tile --tile-side \(size.width / 6)", "--output overlay",
        "--output overlay --edges guided",
        "--output overlay --feather 8", "--output overlay --outline 3", "--output overlay --outline 3 --edges plain",
        "--output overlay -o o.jpg", "--output overlay -o o.webp",
        "--output cutout", "--output cutout --feather 1", "--output cutout --feather 23",
        "--output cutout --feather 24",
        "--output cutout --feather 200", "--output cutout --shift 5.5", "--output cutout --shift -40",
        "--output cutout --fit tile", "--output cutout --fit crop", "--output cutout --fit letterbox",
        "--output cutout -o o.webp", "--background #102030",
        "--background gradient:90:#102030,white", "--background photo.png", "--background blur",
        "--background blur:0.5", "--background gray", "--background dim:0.5", "--output confidence --classes person",
        "--output confidence --classes background,person -o folder/", "--output scores -o o.npy",
        "--output scores --mask-size model -o o.npy",
    ]

    @Test("No output or option takes more than is computed before, and what is computed means something")
    func bound() throws {
        try withScratchFolder { folder in
            try Data(Self.noise(Self.size)).write(to: URL(fileURLWithPath: folder + "/photo.png"))
            for options in Self.options {
                var words = options.split(separator: " ").map(String.init)
                if !words.contains("-o") { words += ["-o", "o.png"] }
                let run = try Program.run(
                    ["segment", "photo.png", "-v", "-d", "cpu", "-m", Program.model] + words, in: folder)
                #expect(run.exitCode == 0, "\(options): \(run.errors)")
                let bound = try #require(Self.numbers("memory up to ", run.errors).first, "\(options): \(run.errors)")
                let figures = Self.numbers("memory: ", run.errors)
                try #require(figures.count == 2)
                let grown = figures[0] - figures[1]
                #expect(grown <= bound, "\(options): took \(grown) MiB, computed were \(bound)")
                // 24 MiB are fixed. What WebP keeps depends on the picture most of all; this noise needs half of it.
                let most = options.hasSuffix("webp") ? 26 : 13
                #expect(10 * (bound - 24) <= most * grown + 80, "\(options): took \(grown) MiB, computed were \(bound)")
                print("\(options): \(grown) MiB of \(bound)")
            }
        }
    }

    /// Whole numbers on the rest of the line behind some words.
    private static func numbers(_ words: String, _ text: String) -> [Int] {
        guard let start = text.range(of: words)?.upperBound else { return [] }
        return text[start...].prefix { $0 != "\n" }.split { !$0.isNumber }.compactMap { Int($0) }
    }

    @Test("Where the memory for a photograph is not to be had, one line says so, and nothing is written")
    func limited() throws {
        try withScratchFolder { folder in
            let size = PixelSize(width: 3000, height: 2000)
            try Image(size: size, format: .rgb, color: .white).write(to: folder + "/photo.png")
            var outcomes: Set<Int32> = []
            for kilobytes in [150_000, 180_000, 230_000, 290_000, 400_000] {
                let run = try Program.run(
                    executable: "/bin/bash",
                    [
                        "-c", "ulimit -v \(kilobytes); exec \"$0\" \"$@\"", Program.path, "segment",
                        "photo.png", "-d", "cpu", "-m", Program.model, "--output", "cutout", "--feather",
                        "8", "-o", "out\(kilobytes)/",
                    ], in: folder)
                let isThere = FileManager.default.fileExists(atPath: folder + "/out\(kilobytes)/photo.png")
                outcomes.insert(run.exitCode)
                if run.exitCode == 0 {
                    #expect(isThere)
                } else {
                    #expect(run.exitCode == 1, "\(kilobytes): \(run.errors)")
                    #expect(!isThere)
                    #expect(run.errorLines.count == 1, "\(run.errors)")
                    #expect(
                        run.errors.contains("photo.png: 3000x2000 takes up to ") && run.errors.contains("ulimit -v"),
                        "\(kilobytes): \(run.errors)")
                }
            }
            #expect(outcomes == [0, 1])
        }
    }
}
