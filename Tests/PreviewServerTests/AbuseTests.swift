import DeviceSupport
import Foundation
import Glibc
import PreviewProtocol
import PreviewServer
import TestSupport
import Testing

@Suite("Server: abuse", .serialized, .childProcess)
struct AbuseTests {
    /// A good page, to see that others are not harmed.
    private func expectService(_ server: PreviewServer) throws {
        let client = try TestClient.preview(port: server.port)
        let picture = TestServer.picture
        client.send(
            PreviewMessage(.frame, .rgb, sequence: 1, timestamp: 1, width: 65, height: 65, payload: picture.bytes))
        #expect(try client.message(.result).header.sequence == 1)
    }

    private func value(_ name: String, _ server: PreviewServer) throws -> Int {
        let text = try TestClient(port: server.port).request("GET", "/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix("silhouette_\(name) ") }
        return Int(line?.split(separator: " ").last ?? "") ?? -1
    }

    private func wait(_ condition: () throws -> Bool) rethrows -> Bool {
        for _ in 0..<500 {
            if try condition() { return true }
            usleep(20_000)
        }
        return false
    }

    @Test("A message in pieces of one byte is a message")
    func oneByteFragments() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port)
        let file = try TestServer.picture.encoded(as: .jpeg)
        let message = PreviewMessage(.frame, .jpeg, sequence: 1, timestamp: 1, width: 65, height: 65, payload: file)
        client.send(message.bytes, pieces: 1)
        #expect(try client.message(.result).header.sequence == 1)
    }

    @Test("A message of 100 MB is refused when its header has come, and takes no memory")
    func hugeMessage() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let before = residentByteCount
        for announced in [100_000_000, 10] {
            let client = try TestClient.preview(port: server.port)
            var header = [UInt8](repeating: 0, count: 32)
            header.withUnsafeMutableBytes {
                MessageHeader(
                    kind: .frame, encoding: .png, sequence: 1, payloadByteCount: announced, width: 10, height: 10
                ).write(to: $0)
            }
            client.sendFrame(2, header, isFinal: false)
            client.sendFrame(0, [UInt8](repeating: 1, count: 11), isFinal: false)
            let error = try object(try client.message(.error))
            #expect(error["code"] as? String == (announced > 10 ? "too-large" : "malformed"))
            // Whoever goes on all the same is not listened to.
            let chunk = [UInt8](repeating: 1, count: 1 << 20)
            for _ in 0..<100 { guard client.sendFrame(0, chunk, isFinal: false) else { break } }
        }
        #expect(wait { residentByteCount - before < (64 << 20) * testMemoryFactor })
        try expectService(server)
    }

    @Test("Where others have taken all memory a camera goes on, and a large frame is refused without harm")
    func shortage() throws {
        let server = try TestServer.mini { $0.limits.bufferedByteCount = 2 << 20 }
        defer { server.stop() }
        // Announcing takes nothing; half a message that has come does.
        let poster = try TestClient(port: server.port)
        poster.write(
            Array(
                "POST /api/segment HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Length: 30000000\r\n\r\n".utf8)
        )
        let hoarder = try TestClient.preview(port: server.port)
        func large(_ sequence: UInt32) -> PreviewMessage { TestServer.frame(sequence, width: 1000, height: 500) }
        hoarder.sendFrame(2, large(1).bytes.prefix(1_200_000), isFinal: false)
        let camera = try TestClient.preview(port: server.port)
        #expect(try wait { try value("received_bytes_total", server) >= 1_200_000 })
        camera.send(large(1))
        let error = try camera.message(.error)
        #expect(error.header.sequence == 1)
        let report = try object(error)
        #expect(report["code"] as? String == "busy")
        #expect(report["fatal"] as? Bool == false)
        camera.send(TestServer.frame(2, width: 65, height: 65))
        #expect(try camera.message(.result).header.sequence == 2)
        // What the hoarder had is free again when it goes.
        hoarder.abandon()
        #expect(try wait { try value("sessions", server) == 1 })
        camera.send(large(3))
        #expect(try camera.message(.result).header.sequence == 3)
    }

    @Test("Noise of any kind ends a connection and nothing else")
    func noise() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        var generator = SeededGenerator(seed: 11)
        for round in 0..<60 {
            let bytes = (0..<Int.random(in: 1..<3000, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let client =
                round.isMultiple(of: 2) ? try TestClient(port: server.port) : try TestClient.preview(port: server.port)
            client.write(bytes)
        }
        try expectService(server)
        #expect(try wait { try value("sessions", server) == 0 })
    }

    @Test("Messages with any byte changed are answered or end the connection")
    func mutations() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        var generator = SeededGenerator(seed: 12)
        let file = try TestServer.picture.encoded(as: .jpeg)
        let good = PreviewMessage(.frame, .jpeg, sequence: 1, timestamp: 1, width: 65, height: 65, payload: file).bytes
        for _ in 0..<150 {
            let client = try TestClient.preview(port: server.port)
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let limit = Bool.random(using: &generator) ? 32 : bytes.count
                bytes[Int.random(in: 0..<limit, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            client.send(bytes)
            switch try client.event() {
            case .message(let message): #expect(message.header.kind != .hello)
            case .closed: break
            }
        }
        try expectService(server)
    }

    @Test("Those who connect and go leave nothing behind, whenever they go")
    func dropIns() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        try expectService(server)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        let frame = PreviewMessage(
            .frame, .rgb, sequence: 1, timestamp: 1, width: 65, height: 65, payload: TestServer.picture.bytes)
        for round in 0..<300 {
            switch round % 6 {
            case 0: _ = try? TestClient(port: server.port)
            case 1: _ = try? TestClient(port: server.port).write(Array("GET / HT".utf8))
            case 2: _ = try? TestClient(port: server.port).upgrade()
            case 3: (try? TestClient.preview(port: server.port))?.send(frame)
            case 4: (try? TestClient.preview(port: server.port))?.send(Array(frame.bytes.prefix(5000)), pieces: 100)
            default:
                let client = try? TestClient(port: server.port)
                client?.write(
                    Array(
                        "POST /api/segment HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Length: 1000\r\n\r\nx"
                            .utf8))
            }
        }
        // The counting connection is one.
        #expect(try wait { try value("connections", server) <= 1 })
        #expect(try value("sessions", server) == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count <= descriptors + 20)
        try expectService(server)
    }

    @Test(
        "Requests behind a body are answered in their order, or the connection ends, and nobody else waits",
        arguments: ["/api/segment", "/", "/nothing"])
    func pipelining(path: String) throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let file = try TestServer.picture.encoded(as: .png)
        let head =
            "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Length: \(file.count)  \r\n\r\n"
        let request = Array(head.utf8) + file
        let alone = try TestClient(port: server.port)
        alone.write(request)
        #expect(try [200, 404, 405].contains(alone.response().status))
        let client = try TestClient(port: server.port)
        client.write(request + request + request)
        if path == "/api/segment" {
            for _ in 0..<3 { #expect(try client.response().status == 200) }
        } else {
            #expect(try [404, 405].contains(client.response().status))
            try client.waitForEnd()
        }
        try expectService(server)
    }

    @Test("Whoever sends a request a byte at a time is hung up on, and keeps nobody else waiting")
    func slowLoris() throws {
        let server = try TestServer.mini {
            $0.limits.headSeconds = 1
            $0.limits.bodySeconds = 1
        }
        defer { server.stop() }
        let clients = try (0..<20).map { _ in try TestClient(port: server.port) }
        let bodies = try (0..<5).map { _ in try TestClient(port: server.port) }
        for client in bodies {
            client.write(
                Array(
                    "POST /api/segment HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Length: 1000\r\n\r\n".utf8)
            )
        }
        let request = Array("GET / HTTP/1.1\r\nX: ".utf8) + [UInt8](repeating: 120, count: 1000)
        var open = Set(clients.indices)
        for byte in request.prefix(80) {
            for index in open where !clients[index].write([byte]) { open.remove(index) }
            for client in bodies { client.write([byte]) }
            if open.isEmpty { break }
            usleep(50_000)
        }
        #expect(open.isEmpty)
        for client in bodies { try client.waitForEnd() }
        try expectService(server)
    }

    @Test(
        "Whoever sends a message a byte at a time is hung up on, and whoever sends short ones at the same pace is not",
        arguments: [true, false])
    func slowMessage(inPieces: Bool) throws {
        let server = try TestServer.mini { $0.limits.bodySeconds = 1 }
        defer { server.stop() }
        let message = TestServer.frame(1, width: 65, height: 65).bytes
        let slow = try TestClient.preview(port: server.port)
        let steady = try TestClient.preview(port: server.port)
        if inPieces {
            slow.sendFrame(2, message.prefix(100), isFinal: false)
        } else {
            // The head of a frame of 1000 bytes.
            slow.write([0x82, 0x80 | 126, 3, 0xe8, 0, 0, 0, 0])
        }
        var isOpen = true
        for index in 0..<50 where isOpen {
            let byte = message[index]
            isOpen = inPieces ? slow.sendFrame(0, [byte], isFinal: false) : slow.write([byte])
            steady.send(TestServer.settings("{}"))
            #expect(try steady.message().header.kind == .settingsInForce)
            usleep(100_000)
        }
        #expect(!isOpen)
        try expectService(server)
    }

    @Test("Whoever does not take its response is hung up on, and whoever takes it slowly is not")
    func slowReader() throws {
        try withScratchFolder { folder in
            let byteCount = 16 << 20
            try makeFile("\(folder)/index.html", [])
            try makeFile("\(folder)/large.js", [UInt8](repeating: 32, count: byteCount))
            let server = try TestServer.mini {
                $0.webFolder = folder
                $0.limits.bodySeconds = 2
            }
            defer { server.stop() }
            let request = Array("GET /large.js HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n".utf8)
            let stuck = try TestClient(port: server.port, receiveBuffer: 4096)
            stuck.write(request)
            let slow = try TestClient(port: server.port)
            slow.write(request)
            // Longer than the limit in all, though no single step is.
            var count = 0
            var pauses = 12
            while count < byteCount, case let got = slow.readSome(1 << 20), got > 0 {
                count += got
                if pauses > 0 { usleep(300_000) }
                pauses -= 1
            }
            #expect(count > byteCount)
            // The slow one's, and the one that counts.
            #expect(try wait { try value("connections", server) <= 2 })
        }
    }

    @Test("Whoever is refused and does not hang up is hung up on")
    func lingering() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let clients = try (0..<5).map { _ in try TestClient(port: server.port) }
        for client in clients {
            client.write(Array("NO REQUEST\r\n\r\n".utf8))
            #expect(try client.response().status == 400)
        }
        #expect(try wait { try value("connections", server) <= 1 })
        withExtendedLifetime(clients) {}
    }

    @Test("A page that does not answer for long is hung up on; one that answers pings is not")
    func silence() throws {
        let server = try TestServer.mini { $0.limits.idleSeconds = 1.5 }
        defer { server.stop() }
        let silent = try TestClient.preview(port: server.port)
        let alive = try TestClient.preview(port: server.port)
        // Pings come each half second: it outlives the limit by far.
        #expect(throws: ClientError.self) { try alive.event(pingLimit: 8) }
        try silent.waitForEnd()
        alive.send(TestServer.settings("{}"))
        #expect(try alive.message().header.kind == .settingsInForce)
    }

    @Test("A page that sends and never reads is not read from any more, and costs no memory")
    func neverReads() throws {
        let engine = FakeEngine(isGated: false)
        let server = try TestServer.fake(engine) { $0.limits.framesPerSecond = 1e6 }
        defer { server.stop() }
        let client = try TestClient.preview(port: server.port, timeout: 1, receiveBuffer: 4096)
        let before = residentByteCount
        // Each is answered by an error, until the system's buffers are full of them.
        let unknown = PreviewMessage(.hello, json: "{}")
        var isStuck = false
        for _ in 0..<400_000 where !isStuck { isStuck = !client.send(unknown) }
        #expect(isStuck)
        #expect(wait { residentByteCount - before < (64 << 20) * testMemoryFactor })
        let other = try TestClient.preview(port: server.port)
        other.send(TestServer.frame(1))
        #expect(try other.message(.result).header.sequence == 1)
    }
}

@Suite("Server: its end")
struct ShutdownTests {
    @Test("Pages are told, also those whose frame is in the network; the port is free again")
    func midStream() throws {
        let engine = FakeEngine()
        let server = try TestServer.fake(engine)
        let clients = try (0..<3).map { _ in try TestClient.preview(port: server.port) }
        clients[0].send(TestServer.frame(1))
        engine.waitForFrame()
        clients[0].send(TestServer.frame(2))
        clients[1].send(Array(TestServer.frame(1).bytes.prefix(20)), pieces: 10)
        server.stop()
        for client in clients {
            var event = try client.event()
            while case .message = event { event = try client.event() }
            #expect(event.closeCode == 1001)
        }
        // The frame comes out of the network after the server's end, and goes nowhere.
        engine.allow(10)
        #expect(throws: ClientError.self) { try TestClient(port: server.port) }
        let next = try TestServer.mini { $0.port = server.port }
        next.stop()
    }

    @Test("Servers that start and stop leave no thread, no socket and no file open")
    func cycles() throws {
        func count(_ what: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(what)").count) ?? 0
        }
        try TestServer.mini().stop()
        let (files, threads) = (count("fd"), count("task"))
        for _ in 0..<100 {
            let server = try TestServer.mini()
            let client = try TestClient.preview(port: server.port)
            client.send(TestServer.frame(1))
            server.stop()
        }
        // Other tests run meanwhile; a single one left by each server would be 100.
        for _ in 0..<500 where count("fd") > files + 60 || count("task") > threads + 60 { usleep(20_000) }
        #expect(count("fd") <= files + 60)
        #expect(count("task") <= threads + 60)
    }
}
