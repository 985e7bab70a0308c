import Base
import DeviceSupport
import Dispatch
import Imaging
import PreviewProtocol
import PreviewServer
import Silhouette
import TestSupport
import Testing

@Suite("Everything that is asked of a frame")
struct OutputsTests {
    /// Counts the runs of a network.
    private final class CountingEngine: SegmentationEngine {
        private let engine: any SegmentationEngine
        private let runs = Locked(0)

        init(_ engine: any SegmentationEngine) { self.engine = engine }

        var deviceName: String { engine.deviceName }
        var runCount: Int { runs.withLock(\.self) }

        func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks {
            runs.withLock { $0 += 1 }
            return try engine.segment(image, request)
        }
    }

    @Test("One run of the network gives the masks and the overlay, each as if it were asked for alone")
    func oneRun() throws {
        let engine = CountingEngine(try CPUEngine(model: TestServer.mini, options: TestServer.device))
        let output = ModelOutput(TestServer.mini)
        let segmenter = try ImageSegmenter(options: ImageSegmenterOptions(), model: output, engine: engine)
        let server = try TestServer.start(
            [
                ServedModel(
                    id: "mini", name: "mini", palette: .voc(count: 21), maskSize: output.size, segmenter: segmenter)
            ]
        ) { _ in }
        defer { server.stop() }
        // Larger than the network, so that masks and overlay have different sizes.
        let picture = TestServer.picture.resized(width: 120, height: 90)
        func messages(_ outputs: String) throws -> [MessageKind: PreviewMessage] {
            let client = try TestClient.preview(port: server.port)
            client.send(TestServer.settings(#"{"classes": [15, 8], "outputs": [\#(outputs)]}"#))
            _ = try client.message(.settingsInForce)
            let before = engine.runCount
            var messages: [MessageKind: PreviewMessage] = [:]
            for sequence in 1...3 as ClosedRange<UInt32> {
                client.send(
                    PreviewMessage(
                        .frame, .rgb, sequence: sequence, timestamp: UInt64(sequence), width: 120, height: 90,
                        payload: picture.bytes))
                while messages.removeValue(forKey: .result) == nil {
                    let message = try client.message()
                    messages[message.header.kind] = message
                }
            }
            #expect(engine.runCount - before == 3, "\(outputs)")
            return messages
        }
        let together = try messages(#""categories", "alpha", "overlay""#)
        #expect(Set(together.keys) == [.categories, .alpha, .overlay])
        for kind in ["categories", "alpha", "overlay"] {
            for (kind, message) in try messages("\"\(kind)\"") {
                #expect(message.payload == together[kind]?.payload)
                #expect(message.header == together[kind]?.header)
            }
        }
    }

    @Test("An overlay has the colours that were chosen where the chosen classes are, and the picture elsewhere")
    func overlay() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let picture = TestServer.picture
        var options = ImageSegmenterOptions()
        options.baseOptions = TestServer.device
        let mask = try #require(
            try ImageSegmenter(options: options, model: TestServer.mini).segment(image: picture).categoryMask)
        let counts = mask.histogram(classCount: 21)
        let chosen = try #require(counts.indices.dropFirst().max { counts[$0] < counts[$1] })
        #expect(counts[chosen] > 100)
        let client = try TestClient.preview(port: server.port)
        client.send(
            TestServer.settings(
                ##"""
                {"outputs": ["overlay"], "classes": [\##(chosen)],
                 "overlay": {"opacity": 1, "encoding": "webp", "colors": {"\##(chosen)": "#ff00ff"}}}
                """##))
        client.send(
            PreviewMessage(.frame, .rgb, sequence: 1, timestamp: 1, width: 65, height: 65, payload: picture.bytes))
        let overlay = try client.message(.overlay)
        #expect(overlay.header.encoding == .webp)
        let image = try overlay.payload.withUnsafeBytes { try ImageFile.decode($0, name: "overlay").image }
        #expect(image.size == picture.size)
        var differences = (inside: 0, outside: 0)
        for (index, category) in mask.categories.enumerated() {
            let seen = image.bytes[3 * index..<3 * index + 3].map(Int.init)
            let isInside = Int(category) == chosen
            let wanted = isInside ? [255, 0, 255] : picture.bytes[3 * index..<3 * index + 3].map(Int.init)
            let difference = zip(seen, wanted).map { abs($0 - $1) }.reduce(0, +)
            if isInside { differences.inside += difference } else { differences.outside += difference }
        }
        // What compression changes: a few steps of 255 in each channel, more at edges.
        #expect(differences.inside < 3 * 40 * counts[chosen])
        #expect(differences.outside < 3 * 40 * (65 * 65 - counts[chosen]))
    }
}
