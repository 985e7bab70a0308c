import Foundation
import Imaging
import ModelGraph
import PreviewServer
import Silhouette
import TestSupport
import Testing

/// What a posted picture may take in the server: before it is taken, while it is worked on, and until its answer is read.
@Suite("Server: memory of a posted picture")
struct AnswerMemoryTests {
    private func noise(_ size: PixelSize, as format: ImageFormat) throws -> [UInt8] {
        var random = SeededGenerator(seed: 4)
        let bytes = (0..<size.pixelCount * 3).map { _ in UInt8.random(in: 0...255, using: &random) }
        return try Image(width: size.width, height: size.height, format: .rgb, bytes: bytes).encoded(as: format)
    }

    @Test("The plan's bytes are enough, the request's among them, and one byte less is refused")
    func exact() throws {
        let body = try noise(PixelSize(width: 300, height: 200), as: .png)
        let model = ModelOutput(try Model(path: Checkout.path("Tests/Fixtures/mini.safetensors")))
        let memory = PictureMemory(
            .effect(EffectOptions(.cutout)), masks: .source, fit: .stretch, format: .png, model: model)
        var claim: PictureClaim?
        _ = try body.withUnsafeBytes { bytes in
            try ImageFile.decode(bytes, name: "picture", limits: ImageLimits()) { claim = $0 }
        }
        let needed = memory.byteCount(try #require(claim), keptByteCount: body.count)
        for (limit, status) in [(needed, 200), (needed - 1, 422)] {
            let server = try TestServer.mini { $0.limits.pictureByteCount = limit }
            defer { server.stop() }
            let response = try TestClient(port: server.port).request(
                "POST", "/api/segment?output=cutout", body: body)
            #expect(response.status == status, "\(response.status): \(response.text.prefix(200))")
        }
    }

    @Test("An answer counts until it is read: where there is no room for it, a line says so")
    func answers() throws {
        // Each message has 256 KiB that are not counted: the JPEG stays below that, the PNG of it does not.
        let body = try noise(PixelSize(width: 340, height: 340), as: .jpeg)
        #expect(body.count < 1 << 18)
        for (limit, status) in [(1000, 503), (4 << 20, 200)] {
            let server = try TestServer.mini { $0.limits.bufferedByteCount = limit }
            defer { server.stop() }
            let client = try TestClient(port: server.port)
            func post() throws -> (status: Int, count: Int) {
                let response = try client.request(
                    "POST", "/api/segment?output=composite&background=gray", ["Accept": "image/png"], body: body)
                return (response.status, response.body.count)
            }
            // Whoever has read one gets the next.
            for _ in 0..<4 {
                let answer = try post()
                #expect(answer.status == status)
                #expect(status != 200 || answer.count > (1 << 18) + 1000)
            }
        }
    }
}
