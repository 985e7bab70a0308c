import DeviceSupport
import Foundation
import Imaging
import PreviewProtocol
import PreviewServer
import Silhouette
import TestSupport
import Testing

@Suite("Server: frames and masks")
struct SessionTests {
    /// What a segmenter of its own gives for a picture.
    private func expected(_ image: Image, classes: [Int]) throws -> ImageSegmenterResult {
        var options = ImageSegmenterOptions()
        options.baseOptions = TestServer.device
        options.maskSize = .model
        options.shouldOutputConfidenceMasks = true
        options.confidenceClasses = ClassSelection(classes)
        return try ImageSegmenter(options: options, model: TestServer.mini).segment(image: image)
    }

    private func decoded(_ message: PreviewMessage) throws -> [UInt8] {
        try MaskCodec.decode(
            message.payload, as: message.header.encoding, width: Int(message.header.width),
            height: Int(message.header.height))
    }

    /// The picture as a page may send it.
    private func payload(_ encoding: PayloadEncoding, _ image: Image) throws -> [UInt8] {
        switch encoding {
        case .jpeg: try image.encoded(as: .jpeg)
        case .webp: try image.encoded(as: .webp)
        case .png: try image.encoded(as: .png)
        case .rgba: (0..<image.size.pixelCount).flatMap { image.bytes[3 * $0..<3 * $0 + 3] + [255] }
        default: image.bytes
        }
    }

    @Test("Masks are those of a segmenter, for every encoding", arguments: MessageKind.frame.encodings)
    func masks(encoding: PayloadEncoding) throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        client.send(TestServer.settings(#"{"outputs": ["categories", "alpha"], "classes": [15, 8]}"#))
        #expect(try object(try client.message(.settingsInForce))["classes"] as? [Int] == [8, 15])
        let picture = TestServer.picture
        let payload = try payload(encoding, picture)
        client.send(
            PreviewMessage(.frame, encoding, sequence: 7, timestamp: 99, width: 65, height: 65, payload: payload))
        let seen =
            [.rgb, .rgba].contains(encoding)
            ? picture : try payload.withUnsafeBytes { try ImageFile.decode($0, name: "frame").image }
        let reference = try expected(seen, classes: [8, 15])

        let categories = try client.message()
        #expect(categories.header.kind == .categories)
        #expect(categories.header.sequence == 7 && categories.header.timestamp == 99)
        #expect(try decoded(categories) == reference.categoryMask?.categories)
        let alpha = try client.message()
        #expect(alpha.header.kind == .alpha)
        let planes = try #require(reference.confidenceMasks)
        #expect(
            try decoded(alpha)
                == zip(planes[0].confidences, planes[1].confidences).map { UInt8(($0 + $1) * 255 + 0.5) })
        let result = try client.message()
        #expect(result.header.kind == .result && result.header.sequence == 7)
        let figures = try object(result)
        let shares = try #require(figures["shares"] as? [[Double]])
        let counts = try #require(reference.categoryMask).histogram(classCount: 21)
        #expect(shares.map { Int($0[0]) }.sorted() == counts.indices.filter { counts[$0] > 0 })
        #expect(abs(shares.reduce(0) { $0 + $1[1] } - 1) < 0.01)
        #expect(figures["droppedFrames"] as? Int == 0)
    }

    @Test("By default alpha is all but the background: what the background leaves")
    func foreground() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        client.send(TestServer.settings(#"{"outputs": ["alpha"]}"#))
        let picture = TestServer.picture
        client.send(
            PreviewMessage(.frame, .rgb, sequence: 1, timestamp: 1, width: 65, height: 65, payload: picture.bytes))
        let background = try #require(expected(picture, classes: [0]).confidenceMasks?.first)
        #expect(
            try decoded(try client.message(.alpha))
                == background.confidences.map { UInt8(255.5 - 255 * $0) })
    }

    @Test("Two pages with different settings do not see each other's")
    func isolation() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let picture = TestServer.picture
        let clients = try (0..<2).map { _ in try TestClient.preview(port: server.port) }
        clients[0].send(TestServer.settings(#"{"outputs": ["categories"]}"#))
        clients[1].send(TestServer.settings(#"{"outputs": ["alpha"], "classes": [1]}"#))
        for client in clients { _ = try client.message(.settingsInForce) }
        for sequence in 1...10 as ClosedRange<UInt32> {
            for client in clients {
                client.send(
                    PreviewMessage(
                        .frame, .rgb, sequence: sequence, timestamp: UInt64(sequence), width: 65, height: 65,
                        payload: picture.bytes))
            }
            for (client, kind) in zip(clients, [MessageKind.categories, .alpha]) {
                let mask = try client.message()
                #expect(mask.header.kind == kind && mask.header.sequence == sequence)
                #expect(try client.message().header.kind == .result)
            }
        }
        // One that misbehaves does not harm the other.
        clients[0].send(Array("nonsense".utf8))
        #expect(try object(try clients[0].message(.error))["code"] as? String == "malformed")
        #expect(try clients[0].event().closeCode == 1002)
        clients[1].send(
            PreviewMessage(.frame, .rgb, sequence: 11, timestamp: 11, width: 65, height: 65, payload: picture.bytes))
        #expect(try clients[1].message().header.kind == .alpha)
    }

    @Test("Of three frames the middle one is dropped at once: one is in the network, the newest waits")
    func drops() throws {
        let engine = FakeEngine()
        let server = try TestServer.fake(engine)
        defer {
            engine.allow(100)
            server.stop()
        }
        let client = try TestClient.preview(port: server.port)
        client.send(TestServer.frame(1))
        engine.waitForFrame()
        client.send(TestServer.frame(2))
        client.send(TestServer.frame(3))
        let dropped = try client.message()
        #expect(dropped.header.kind == .dropped && dropped.header.sequence == 2 && dropped.header.timestamp == 2000)
        client.send(TestServer.frame(4))
        #expect(try client.message().header.sequence == 3)
        for sequence in [1, 4] as [UInt32] {
            // One at a time: two results at once may be one too many for a page that seems slow.
            engine.allow()
            #expect(try client.message().header.kind == .categories)
            let result = try client.message()
            #expect(result.header.kind == .result && result.header.sequence == sequence)
            #expect(try object(result)["droppedFrames"] as? Int == 2)
        }
    }

    @Test("Pages take turns: one that sends more than the network can do does not keep another waiting")
    func turns() throws {
        let engine = FakeEngine()
        let server = try TestServer.fake(engine)
        defer {
            engine.allow(100)
            server.stop()
        }
        let greedy = try TestClient.preview(port: server.port)
        let modest = try TestClient.preview(port: server.port)
        greedy.send(TestServer.frame(1))
        engine.waitForFrame()
        for sequence in 2...20 as ClosedRange<UInt32> { greedy.send(TestServer.frame(sequence)) }
        for _ in 2...19 { _ = try greedy.message(.dropped) }
        modest.send(TestServer.frame(1))
        // The greedy one's second frame may be ahead; the modest one's is next.
        engine.allow(3)
        #expect(try modest.message(.result).header.sequence == 1)
    }

    @Test("A frame that the network fails on is an error, and the next one is run")
    func failure() throws {
        let engine = FakeEngine(isGated: false, failingWidth: 3)
        let server = try TestServer.fake(engine)
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        client.send(TestServer.frame(1, width: 3))
        let error = try client.message()
        #expect(error.header.kind == .error && error.header.sequence == 1)
        #expect(try object(error)["code"] as? String == "internal")
        client.send(TestServer.frame(2))
        #expect(try client.message(.result).header.sequence == 2)
    }

    @Test("A page's own frame rate drops what is above it")
    func pace() throws {
        let engine = FakeEngine(isGated: false)
        let server = try TestServer.fake(engine)
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        client.send(TestServer.settings(#"{"maximumFramesPerSecond": 0.1}"#))
        for sequence in 1...5 as ClosedRange<UInt32> { client.send(TestServer.frame(sequence)) }
        var kinds: [MessageKind] = []
        while kinds.filter({ $0 == .dropped || $0 == .result }).count < 5 {
            kinds.append(try client.message().header.kind)
        }
        #expect(kinds.filter { $0 == .result }.count == 1)
    }

    @Test("More frames than the server takes are refused, and at last the connection")
    func rate() throws {
        let engine = FakeEngine(isGated: false)
        let server = try TestServer.fake(engine) { $0.limits.framesPerSecond = 5 }
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        for sequence in 1...60 as ClosedRange<UInt32> { client.send(TestServer.frame(sequence)) }
        var codes: [String] = []
        while true {
            switch try client.event() {
            case .message(let message) where message.header.kind == .error:
                codes.append(try object(message)["code"] as? String ?? "")
            case .message: break
            case .closed(let code):
                #expect(code == 1008)
                #expect(codes.count > 5 && codes.allSatisfy { $0 == "rate" })
                return
            }
        }
    }
}

@Suite("Server: what is refused, and what it costs")
struct RefusalTests {
    /// A message, what it is refused with, and the status that the connection is closed with.
    struct Case: CustomTestStringConvertible, Sendable {
        let name, code: String
        let closeCode: UInt16?
        let message: [UInt8]
        var testDescription: String { name }

        init(_ name: String, _ code: String, _ closeCode: UInt16, _ message: [UInt8]) {
            self.name = name
            self.code = code
            self.closeCode = closeCode
            self.message = message
        }

        init(_ name: String, _ code: String, _ message: [UInt8]) {
            self.name = name
            self.code = code
            closeCode = nil
            self.message = message
        }
    }

    private static func message(
        _ encoding: PayloadEncoding, _ width: UInt32 = 65, _ height: UInt32 = 65, payload: [UInt8]
    ) -> [UInt8] {
        PreviewMessage(.frame, encoding, sequence: 5, timestamp: 5, width: width, height: height, payload: payload)
            .bytes
    }

    private static func jpeg() -> [UInt8] { (try? TestServer.picture.encoded(as: .jpeg)) ?? [] }

    /// The beginning of a file of 70x70 pixels.
    private static func largeHeader() -> [UInt8] {
        let picture = TestServer.picture.resized(width: 70, height: 70)
        return Array(((try? picture.encoded(as: .png)) ?? []).prefix(60))
    }

    private static func changed(_ offset: Int, _ byte: UInt8) -> [UInt8] {
        var bytes = message(.jpeg, payload: jpeg())
        bytes[offset] = byte
        return bytes
    }

    static let cases = [
        Case("nothing but noise", "malformed", 1002, Array("nonsense".utf8)),
        Case("an empty message", "malformed", 1002, []),
        Case("another version", "version", 1002, changed(4, 2)),
        Case("a reserved byte", "malformed", 1002, changed(7, 1)),
        Case("a wrong length", "malformed", 1002, changed(12, 1)),
        Case("a kind of the server's", "unknown-kind", PreviewMessage(.hello, json: "{}").bytes),
        Case("an unknown kind", "unknown-kind", changed(5, 77)),
        Case("an unknown encoding", "unknown-encoding", changed(6, 77)),
        Case("no pixels", "malformed", 1002, message(.jpeg, 0, 0, payload: jpeg())),
        Case("100000x100000", "too-large", message(.jpeg, 100_000, 100_000, payload: jpeg())),
        Case("2^32-1 a side, raw", "too-large", message(.rgb, .max, .max, payload: [1, 2, 3])),
        Case("more pixels than the limit", "too-large", message(.png, 101, 100, payload: [1])),
        Case("noise for a JPEG", "bad-picture", message(.jpeg, payload: [UInt8](repeating: 1, count: 1000))),
        Case("a JPEG that is cut", "bad-picture", message(.jpeg, payload: Array(jpeg().prefix(700)))),
        Case("a JPEG that is called PNG", "bad-picture", message(.png, payload: jpeg())),
        Case("no bytes", "bad-picture", message(.webp, payload: [])),
        Case("another size than announced", "size-mismatch", message(.jpeg, 64, 65, payload: jpeg())),
        Case("a larger size than announced", "size-mismatch", message(.jpeg, 80, 80, payload: jpeg())),
        // Refused by the file's own header: it is cut, and nothing behind that is read.
        Case("a file that says to be larger", "size-mismatch", message(.png, payload: largeHeader())),
        Case("too few raw bytes", "size-mismatch", message(.rgb, 2, 2, payload: [UInt8](repeating: 0, count: 11))),
        Case("settings that are no JSON", "bad-settings", TestServer.settings("{").bytes),
        Case("settings with an unknown key", "bad-settings", TestServer.settings(#"{"x": 1}"#).bytes),
        Case("a class that is not there", "bad-settings", TestServer.settings(#"{"classes": [21]}"#).bytes),
        Case("a model that is not there", "bad-settings", TestServer.settings(#"{"model": "x"}"#).bytes),
        Case(
            "settings too long", "bad-settings",
            TestServer.settings("{}" + String(repeating: " ", count: 1 << 16)).bytes),
        Case(
            "more bytes than the limit", "too-large", 1009,
            message(.png, payload: [UInt8](repeating: 0, count: 200_000))),
    ]

    @Test("Each refusal has its code, and the connection lives or closes as documented", arguments: cases)
    func refusal(row: Case) throws {
        let server = try TestServer.mini {
            $0.limits.pixelCount = 10_000
            $0.limits.messageByteCount = 100_000
        }
        defer { server.stop() }
        for pieces in [Int.max, 50] {
            let client = try TestClient.preview(port: server.port)
            client.send(row.message, pieces: pieces)
            let error = try client.message(.error)
            let report = try object(error)
            #expect(report["code"] as? String == row.code, "\(report)")
            #expect(report["fatal"] as? Bool == (row.closeCode != nil))
            #expect((report["message"] as? String)?.isEmpty == false)
            if let closeCode = row.closeCode {
                #expect(error.header.sequence == 0)
                #expect(try client.event().closeCode == closeCode)
            } else {
                client.send(Self.message(.jpeg, payload: Self.jpeg()).replacing(sequence: 6))
                #expect(try client.message(.result).header.sequence == 6)
            }
        }
    }

    @Test("Settings that come too fast are refused, later ones are not, and the connection lives")
    func settingsRate() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        let count = 100
        let start = ContinuousClock.now
        for _ in 0..<count { client.send(TestServer.settings("{}")) }
        var accepted = 0
        for _ in 0..<count {
            let message = try client.message()
            if message.header.kind == .settingsInForce {
                accepted += 1
            } else {
                let report = try object(message)
                #expect(report["code"] as? String == "rate")
                #expect(report["fatal"] as? Bool == false)
            }
        }
        // 20 at once, and 20 in each second.
        #expect(accepted >= 20)
        #expect(Double(accepted) <= 21 + 20 * ((ContinuousClock.now - start) / .seconds(1)))
        usleep(300_000)
        client.send(TestServer.settings("{}"))
        #expect(try client.message().header.kind == .settingsInForce)
    }

    @Test("Text closes the connection")
    func text() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        client.send(Array("{}".utf8), opcode: 1)
        #expect(try object(try client.message(.error))["fatal"] as? Bool == true)
        #expect(try client.event().closeCode == 1003)
    }

    @Test("A frame that is not later than the one before is refused, and later ones are not")
    func outOfOrder() throws {
        let engine = FakeEngine(isGated: false)
        let server = try TestServer.fake(engine)
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        client.send(TestServer.frame(5))
        #expect(try client.message(.result).header.sequence == 5)
        for (sequence, timestamp) in [(5, 9000), (4, 9000), (6, 5000), (0, 9000)] as [(UInt32, UInt64)] {
            client.send(TestServer.frame(sequence, timestamp: timestamp))
            #expect(try object(try client.message(.error))["code"] as? String == "out-of-order")
        }
        client.send(TestServer.frame(7))
        #expect(try client.message(.result).header.sequence == 7)
    }
}

extension [UInt8] {
    /// The same message about another frame, a little later.
    fileprivate func replacing(sequence: UInt8) -> [UInt8] {
        var bytes = self
        bytes[8] = sequence
        bytes[16] = sequence
        return bytes
    }
}
