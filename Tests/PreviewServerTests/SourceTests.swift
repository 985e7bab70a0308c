import Foundation
import Imaging
import PreviewProtocol
import PreviewServer
import TestSupport
import Testing

private let hasFFmpeg = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg")

@Suite("Server: a source of its own", .enabled(if: hasFFmpeg, "the program ffmpeg is not installed"))
struct SourceTests {
    /// Runs `body` with a video of half a second.
    private func withVideo(_ body: (String) throws -> Void) throws {
        try withScratchFolder { folder in
            let ffmpeg = Process()
            ffmpeg.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
            ffmpeg.arguments = [
                "-v", "error", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=40:duration=0.5", "\(folder)/a.mkv",
            ]
            try ffmpeg.run()
            ffmpeg.waitUntilExit()
            try body("\(folder)/a.mkv")
        }
    }

    @Test("Every page gets each picture with its own masks, beyond the video's end; frames are refused")
    func watching() throws {
        try withVideo { video in
            let server = try TestServer.mini { $0.source = .played(path: video) }
            defer { server.stop() }
            let client = try TestClient(port: server.port)
            #expect(try client.upgrade().status == 101)
            let hello = try object(try client.message(.hello))
            #expect(hello["source"] as? String == "server")
            #expect(hello["sourceName"] as? String == "a.mkv")
            let other = try TestClient.preview(port: server.port)
            other.send(TestServer.settings(#"{"outputs": ["alpha"]}"#))
            _ = try other.message(.settingsInForce)
            for (client, kind) in [(client, MessageKind.categories), (other, .alpha)] {
                var last: (sequence: UInt32, timestamp: UInt64) = (0, 0)
                var ownCount = 0
                for _ in 0..<40 {
                    let picture = try client.message(.picture)
                    #expect(picture.header.sequence > last.sequence && picture.header.timestamp > last.timestamp)
                    last = (picture.header.sequence, picture.header.timestamp)
                    #expect(picture.header.width == 160 && picture.header.height == 120)
                    let mask = try client.message()
                    // Some masks were under way before the settings changed.
                    if mask.header.kind != kind { continue }
                    ownCount += 1
                    #expect(mask.header.sequence == last.sequence)
                    #expect(try client.message().header.kind == .result)
                }
                #expect(ownCount >= 35)
            }
            client.send(TestServer.frame(1))
            #expect(try object(try client.message(.error))["code"] as? String == "unexpected")
        }
    }

    @Test("A source that cannot be played is one clear line when the server starts")
    func absent() throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/text.mkv", Array("no video".utf8))
            for path in ["\(folder)/absent.mkv", "\(folder)/text.mkv", folder] {
                let error = #expect(throws: ServerError.self) {
                    try TestServer.mini { $0.source = .played(path: path) }
                }
                #expect(error?.description.hasPrefix("--source \(path): ") == true)
                #expect(error?.description.contains("\n") == false)
            }
        }
    }
}
