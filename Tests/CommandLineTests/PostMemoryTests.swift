import Foundation
import Imaging
import ModelGraph
import Silhouette
import TestSupport
import Testing

extension ServeTests {
    /// What a POST asks for, in its own words and in those of the plan.
    private static let posts: [(query: String, type: String, output: PictureMemory.Output, format: ImageFormat)] = [
        ("output=mask", "image/png", .categories(edges: nil), .png),
        ("output=confidence&class=person", "image/png", .confidences(count: 1, files: 1), .png),
        ("output=cutout", "image/png", .effect(EffectOptions(.cutout)), .png),
        ("output=composite&background=gray", "image/png", .effect(EffectOptions(.composite(.gray))), .png),
    ]

    @Test(
        "A post takes no more than is computed before, its body and its answer included, and that means something",
        .disabled(if: testMemoryFactor > 1, "a sanitiser's own memory is not in what is computed"),
        .enabled(if: hasCurl, "curl is not installed"))
    func postMemory() throws {
        try withPage { folder in
            let photograph = try PictureMemoryTests.noise(PixelSize(width: 3000, height: 2000))
            try makeFile("\(folder)/photo.png", photograph)
            let model = ModelOutput(try Model(path: Program.model))
            for post in Self.posts {
                let server = try Running(["--port", "0", "--web", "web"], in: folder)
                defer { _ = server.end(SIGTERM) }
                func segment(_ path: String) throws -> Int {
                    let run = try get(
                        [
                            "--fail", "--max-time", "300", "-H", "Accept: \(post.type)", "--data-binary", "@\(path)",
                            "-o", "answer",
                            server.address + "api/segment?" + post.query,
                        ], in: folder)
                    #expect(run.exitCode == 0, "\(post.query): \(run.errors)")
                    return try Self.peak(of: server.process.processIdentifier)
                }
                // What is taken once: the network, threads, tables.
                let before = try segment(Program.picture)
                let grown = try segment("photo.png") - before
                let memory = PictureMemory(
                    post.output, masks: .source, fit: .stretch, format: post.format, model: model)
                let bound =
                    memory.byteCount(try Self.claim(photograph), keptByteCount: photograph.count) >> 20
                print("POST \(post.query): \(grown) MiB of \(bound)")
                #expect(grown <= bound, "\(post.query): took \(grown) MiB, computed were \(bound)")
                #expect(bound * 10 <= grown * 13 + 400, "\(post.query): took \(grown) MiB, computed were \(bound)")
            }
        }
    }

    private static func claim(_ file: [UInt8]) throws -> PictureClaim {
        var claim: PictureClaim?
        _ = try file.withUnsafeBytes { bytes in
            try ImageFile.decode(bytes, name: "photo", limits: ImageLimits()) { claim = $0 }
        }
        return try #require(claim)
    }

    /// The most memory that a process has had, in MiB.
    private static func peak(of process: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) >> 10
    }
}
