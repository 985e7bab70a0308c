import Foundation
import PreviewProtocol
import PreviewServer
import TestSupport
import Testing

@Suite("Server: who may connect")
struct HandshakeTests {
    @Test("A page of the server's own origin, and a program without one, are greeted")
    func greeting() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        for fields in [[:], ["Origin": "http://127.0.0.1:\(server.port)"]] {
            let client = try TestClient(port: server.port)
            let response = try client.upgrade("/preview", fields)
            #expect(response.status == 101)
            #expect(response.fields["sec-websocket-protocol"] == "silhouette.preview.1")
            // RFC 6455, 1.3: the answer to the key of its example, which the client sends.
            #expect(response.fields["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            #expect(response.fields["sec-websocket-extensions"] == nil)
            let hello = try object(try client.message(.hello))
            #expect(hello["protocol"] as? Int == 1)
            #expect(hello["source"] as? String == "browser")
            #expect(hello["model"] as? String == "mini")
            let model = try #require((hello["models"] as? [[String: Any]])?.first)
            #expect(model["width"] as? Int == 65)
            #expect((model["labels"] as? [String])?.count == 21)
            #expect((model["palette"] as? [[Int]])?.count == 21)
            #expect((model["subjectClasses"] as? [Int])?.contains(15) == true)
        }
    }

    @Test(
        "Others are not, and are told why",
        arguments: [
            ("/preview", ["Origin": "http://evil.example"], "silhouette.preview.1", 403),
            ("/preview", ["Origin": "null"], "silhouette.preview.1", 403),
            ("/preview", ["Host": "evil.example"], "silhouette.preview.1", 403),
            ("/preview", ["Host": "127.0.0.1"], "silhouette.preview.1", 403),
            ("/other", [:], "silhouette.preview.1", 404),
            ("/preview", [:], nil, 400),
            ("/preview", [:], "silhouette.preview.3", 400),
            ("/preview", [:], "http", 400),
            ("/preview", ["Upgrade": "h2c"], "silhouette.preview.1", 400),
            ("/preview", ["Sec-WebSocket-Version": "8"], "silhouette.preview.1", 426),
        ] as [(String, [String: String], String?, Int)])
    func refusals(path: String, fields: [String: String], subprotocol: String?, status: Int) throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let client = try TestClient(port: server.port)
        let response = try client.upgrade(path, fields, subprotocol: subprotocol)
        #expect(response.status == status, "\(response.text)")
        try client.waitForEnd()
        // It is still there for others.
        _ = try TestClient.preview(port: server.port)
    }

    @Test(
        "The newest version that both sides speak is agreed on, and the server's messages are of it",
        arguments: [
            ("silhouette.preview.1", 1), ("silhouette.preview.2", 2), ("silhouette.preview.1, silhouette.preview.2", 2),
            ("silhouette.preview.2,silhouette.preview.1,silhouette.preview.9", 2),
        ] as [(String, Int)])
    func versions(offered: String, version: Int) throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let client = try TestClient(port: server.port)
        let response = try client.upgrade("/preview", subprotocol: offered)
        #expect(response.status == 101)
        #expect(response.fields["sec-websocket-protocol"] == "silhouette.preview.\(version)")
        let message = try client.message(.hello)
        #expect(message.header.version == UInt8(version))
        let hello = try object(message)
        #expect(hello["protocol"] as? Int == version)
        let matte = hello["matte"] as? [String: Any]
        #expect((matte != nil) == (version == 2))
        guard let matte else { return }
        #expect(matte["steepness"] as? Double == 3)
        #expect(matte["colorSide"] as? Int == 200)
        #expect(matte["colorRadii"] as? [Int] == [16, 1])
    }

    @Test("With a token nothing but /healthz is given without it")
    func token() throws {
        let server = try TestServer.mini { $0.token = "correct-horse" }
        defer { server.stop() }
        #expect(server.address.hasSuffix("/?token=correct-horse"))
        func status(_ path: String, _ fields: [String: String] = [:]) throws -> Int {
            try TestClient(port: server.port).request("GET", path, fields).status
        }
        #expect(try status("/healthz") == 200)
        #expect(try status("/metrics") == 401)
        #expect(try status("/metrics?token=wrong") == 401)
        #expect(try status("/metrics?token=correct-horse") == 200)
        #expect(try status("/metrics", ["Authorization": "Bearer correct-horse"]) == 200)
        #expect(try TestClient(port: server.port).upgrade().status == 401)
        #expect(try TestClient(port: server.port).upgrade("/preview?token=correct-horse").status == 101)

        let redirect = try TestClient(port: server.port).request("GET", "/?token=correct-horse")
        #expect(redirect.status == 303)
        #expect(redirect.fields["location"] == "/")
        let cookie = try #require(redirect.fields["set-cookie"]?.split(separator: ";").first.map(String.init))
        #expect(try TestClient(port: server.port).upgrade("/preview", ["Cookie": cookie]).status == 101)
        #expect(try TestClient(port: server.port).upgrade("/preview", ["Cookie": cookie + "x"]).status == 401)
    }

    @Test("Another address than this machine's needs a token")
    func tokenNeeded() {
        let error = #expect(throws: ServerError.self) { try TestServer.mini { $0.host = "0.0.0.0" } }
        #expect(error?.description.contains("--token") == true)
    }

    @Test("A port that is taken, and an address that is not this machine's, are one clear line")
    func taken() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let error = #expect(throws: ServerError.self) { try TestServer.mini { $0.port = server.port } }
        #expect(error?.description.contains("port \(server.port) is taken") == true)
        for host in ["203.0.113.7", "not an address", "0", "2130706433", "127.1", "0x7f000001"] {
            #expect(throws: ServerError.self) {
                try TestServer.mini {
                    $0.host = host
                    $0.token = "correct-horse"
                }
            }
        }
    }

    @Test("Connections beyond a limit are told so, and later ones are served again")
    func limits() throws {
        let server = try TestServer.mini { $0.limits.connectionCountPerAddress = 3 }
        defer { server.stop() }
        var clients = try (0..<3).map { _ in try TestClient(port: server.port) }
        for client in clients { #expect(try client.request("GET", "/healthz").status == 200) }
        #expect(try TestClient(port: server.port).response().status == 503)
        clients.removeAll()
        var isServed = false
        for _ in 0..<100 where !isServed {
            isServed = (try? TestClient(port: server.port).request("GET", "/healthz").status) == 200
            if !isServed { usleep(20_000) }
        }
        #expect(isServed)
    }

    @Test("One viewer too many is told that the server is busy")
    func busy() throws {
        let server = try TestServer.mini { $0.limits.connectionCount = 6 }
        defer { server.stop() }
        let clients = try (0..<2).map { _ in try TestClient.preview(port: server.port) }
        let surplus = try TestClient.preview(port: server.port)
        let error = try object(try surplus.message(.error))
        #expect(error["code"] as? String == "busy")
        #expect(error["fatal"] as? Bool == true)
        #expect(try surplus.event().closeCode == 1013)
        #expect(clients.count == 2)
    }
}
