import Foundation
import Imaging
import PreviewProtocol
import PreviewServer
import Silhouette
import TestSupport
import Testing

@Suite("Mattes of live frames")
struct MatteTests {
    /// The small model's picture, and others that are a little brighter.
    private static let pictures: [Image] = (0..<3).map { step in
        Image(TestServer.picture.size, .rgb) { bytes in
            for (index, byte) in TestServer.picture.bytes.enumerated() {
                bytes[index] = UInt8(min(255, Int(byte) + 9 * step))
            }
        }
    }

    private func send(_ picture: Image, _ sequence: UInt32, to client: TestClient) {
        client.send(
            PreviewMessage(
                .frame, .rgb, sequence: sequence, timestamp: UInt64(sequence) * 1000, width: UInt32(picture.width),
                height: UInt32(picture.height), payload: picture.bytes))
    }

    /// What a film's edges are made of, and the radius.
    private func expected(_ class: Int, smoothing: Float, mends: Bool) throws -> (maps: [[UInt8]], guide: EdgeGuide) {
        var options = ImageSegmenterOptions()
        options.baseOptions = TestServer.device
        options.maskSize = .model
        options.subjectClasses = [.index(`class`)]
        let segmenter = try ImageSegmenter(options: options, model: TestServer.mini)
        var edges = SteadyEdges()
        let guides = try Self.pictures.map { picture in
            let result = try segmenter.segment(image: picture)
            let mask = try #require(result.pictureCategoryMask)
            return edges.guide(
                picture, try #require(result.subject), categories: mends ? (mask.categories, mask.size) : nil,
                smoothing: smoothing)
        }
        return (guides.map { $0.confidences.map { UInt8($0 * 255 + 0.5) } }, try #require(guides.last))
    }

    /// The class that most of the picture is of, so that there is something to be seen.
    private func largestClass() throws -> Int {
        var options = ImageSegmenterOptions()
        options.baseOptions = TestServer.device
        let mask = try #require(
            try ImageSegmenter(options: options, model: TestServer.mini).segment(image: Self.pictures[0]).categoryMask)
        let counts = mask.histogram(classCount: 21)
        return try #require(counts.indices.dropFirst().max { counts[$0] < counts[$1] })
    }

    @Test(
        "A matte is what a film's edges are made of, frame after frame",
        arguments: [(Float(0.6), true), (0.6, false), (0, true), (0.9, true)])
    func film(smoothing: Float, mends: Bool) throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let chosen = try largestClass()
        let client = try TestClient.preview(port: server.port, version: 2)
        client.send(
            TestServer.settings(
                #"{"outputs": ["matte"], "classes": [\#(chosen)], "smoothing": \#(smoothing), "closesHoles": \#(mends)}"#
            ))
        let inForce = try object(try client.message(.settingsInForce))
        #expect(inForce["closesHoles"] as? Bool == mends)
        #expect(abs((inForce["smoothing"] as? Double ?? -1) - Double(smoothing)) < 1e-6)
        let expected = try expected(chosen, smoothing: smoothing, mends: mends)
        #expect(expected.maps[0].contains { $0 > 128 } && expected.maps[0].contains { $0 < 128 })
        // There is something to be mended and to be steadied.
        #expect(try expected.maps != self.expected(chosen, smoothing: smoothing, mends: !mends).maps)
        #expect(try expected.maps != self.expected(chosen, smoothing: smoothing == 0 ? 0.6 : 0, mends: mends).maps)
        for (index, picture) in Self.pictures.enumerated() {
            send(picture, UInt32(index + 1), to: client)
            let matte = try client.message(.matte)
            #expect(matte.header.version == 2)
            #expect(matte.header.sequence == UInt32(index + 1))
            let size = expected.guide.picture.size
            #expect(Int(matte.header.width) == size.width && Int(matte.header.height) == size.height)
            let bytes = try MaskCodec.decode(
                matte.payload, as: matte.header.encoding, width: size.width, height: size.height)
            #expect(bytes == expected.maps[index], "frame \(index)")
            let result = try object(try client.message(.result))
            #expect(result["matteRadius"] as? Int == expected.guide.radius)
        }
    }

    @Test("Without a class there is nothing, and with all of them there is everything")
    func extremes() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        for (classes, level) in [([], UInt8(0)), (Array(0..<21), 255)] as [([Int], UInt8)] {
            let client = try TestClient.preview(port: server.port, version: 2)
            client.send(TestServer.settings(#"{"outputs": ["matte"], "classes": \#(classes)}"#))
            send(Self.pictures[0], 1, to: client)
            let matte = try client.message(.matte)
            let bytes = try MaskCodec.decode(
                matte.payload, as: matte.header.encoding, width: Int(matte.header.width),
                height: Int(matte.header.height))
            #expect(bytes.allSatisfy { $0 == level })
        }
    }

    @Test("A page of version 1 gets what it always got, and may not ask for what it does not know")
    func oldPages() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        for patch in [#"{"outputs": ["matte"]}"#, #"{"smoothing": 0.5}"#, #"{"closesHoles": false}"#] {
            client.send(TestServer.settings(patch))
            #expect(try object(try client.message(.error))["code"] as? String == "bad-settings")
        }
        client.send(TestServer.settings(#"{"outputs": ["alpha"], "classes": [1]}"#))
        let inForce = try client.message(.settingsInForce)
        #expect(inForce.header.version == 1)
        #expect(
            Set(try object(inForce).keys).isDisjoint(with: ["smoothing", "closesHoles"]))
        send(Self.pictures[0], 1, to: client)
        #expect(try client.message(.alpha).header.version == 1)
        #expect(try object(try client.message(.result))["matteRadius"] == nil)
    }

    @Test("A message of a version that was not agreed on ends the connection", arguments: [1, 2] as [UInt8])
    func otherVersion(version: UInt8) throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port, version: version)
        var message = TestServer.settings("{}")
        message.header.version = 3 - version
        client.send(message.bytes)
        #expect(try object(try client.message(.error))["code"] as? String == "version")
        #expect(try client.event().closeCode == 1002)
    }

    @Test("Settings of mattes are checked")
    func settings() throws {
        let first = PreviewSettings(version: 2)
        func patch(_ json: String) throws -> PreviewSettings { try first.patched(with: Array(json.utf8)) }
        #expect(try patch(#"{"smoothing": 0.9}"#).smoothing == 0.9)
        #expect(try patch(#"{"closesHoles": false}"#).closesHoles == false)
        for bad in [
            #"{"smoothing": 0.91}"#, #"{"smoothing": -0.1}"#, #"{"smoothing": "much"}"#, #"{"closesHoles": 1}"#,
            #"{"outputs": ["mattes"]}"#,
        ] {
            #expect(throws: ProtocolError.self, "\(bad)") { try patch(bad) }
        }
    }
}
