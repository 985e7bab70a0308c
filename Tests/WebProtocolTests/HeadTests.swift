import Testing
import WebProtocol

@Suite("The head of a request")
struct HeadTests {
    private static let good = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    private func read(_ text: String) throws -> HTTPRequest? {
        var reader = HTTPHeadReader()
        return try reader.append(Array(text.utf8))?.request
    }

    private func status(_ text: String) -> Int? {
        do {
            return try read(text) == nil ? nil : 200
        } catch {
            return (error as? HTTPRefusal)?.status
        }
    }

    @Test("is read the same in pieces of any size, and what follows it is kept")
    func pieces() throws {
        let text =
            "POST /a%20b?x=1&y=%23f%2b+g HTTP/1.1\r\nHost: h:1\r\nX-Auth: \t s \t\r\nCookie: a=1\r\nCookie: b=2\r\n\r\nrest"
        for size in 1...text.utf8.count {
            var reader = HTTPHeadReader()
            var bytes = Array(text.utf8)[...]
            var found: (request: HTTPRequest, rest: [UInt8])?
            while found == nil, !bytes.isEmpty {
                found = try reader.append(bytes.prefix(size))
                bytes = bytes.dropFirst(size)
            }
            let (request, rest) = try #require(found)
            #expect(request.method == "POST" && request.path == "/a b")
            #expect(request.query.map { "\($0.name)=\($0.value)" } == ["x=1", "y=#f+ g"])
            #expect(request.fields["host"] == "h:1" && request.fields["x-auth"] == "s")
            #expect(request.fields["cookie"] == "a=1; b=2")
            #expect(rest + bytes == Array("rest".utf8))
        }
    }

    @Test(
        "keeps every field whatever its name begins like",
        arguments: [
            "X-Auth", "X-Real", "If", "X", "Sec", "Content", "Re", "Acc", "Up", "O", "Origi", "Origin-X", "Hos",
        ])
    func prefixes(name: String) throws {
        let request = try #require(
            try read("GET / HTTP/1.1\r\n\(name): v\r\nHost: h\r\nOrigin: http://evil.example\r\n\r\n"))
        #expect(request.fields[name.lowercased()] == "v")
        #expect(request.fields["host"] == "h" && request.fields["origin"] == "http://evil.example")
        // The last one too.
        #expect(try read("GET / HTTP/1.1\r\nHost: h\r\n\(name): v\r\n\r\n")?.fields[name.lowercased()] == "v")
    }

    @Test(
        "is refused where two readers could understand it in two ways",
        arguments: [
            ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nOrigin: b\r\nORIGIN: c\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
            ("GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /?a=%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /%2 HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{1}\r\n\r\n", 400), ("GET / HTTP/1.1\r\n: a\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("\u{16}\u{3}\u{1}\r\n\r\n", 400), ("GET /\r\n\r\n", 400),
            ("GET /" + String(repeating: "a", count: 9_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", 414),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 17_000) + "\r\n\r\n", 431),
            ("GET / HTTP/1.1\r\nHost: a\r\n" + (0..<101).map { "X-\($0): 1\r\n" }.joined() + "\r\n", 431),
        ])
    func refused(text: String, status: Int) { #expect(self.status(text) == status) }

    @Test("that cannot become one is refused before its end has come, and one too long as soon as it is")
    func early() {
        #expect(status("hello\r\n") == 400)
        #expect(status(String(repeating: "a", count: 9_000)) == 414)
        #expect(status("GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 17_000)) == 431)
        #expect(status("GET / HT") == nil)
        #expect(status("\r\n\r\n" + Self.good) == 200)
        #expect(status("\r\n\r\n\r\n" + Self.good) == 400)
    }

    @Test(
        "is taken or refused alike, whole or byte by byte",
        arguments: [
            "GET /" + String(repeating: "a", count: 8_000 - 14) + " HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /" + String(repeating: "a", count: 8_001 - 14) + " HTTP/1.1\r\nHost: a\r\n\r\n",
            "\r\nhello\r\n", "\r\nhello", "\r\n\r\n\r", "\r\n\r\n\n", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "hello\r\n" + String(repeating: "a", count: 17_000) + "\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 16_384 - 32) + "\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 16_385 - 32) + "\r\n\r\n",
        ])
    func dripped(text: String) {
        var reader = HTTPHeadReader()
        var dripped: Int?
        do {
            for byte in text.utf8 where dripped == nil { dripped = try reader.append([byte]) == nil ? nil : 200 }
        } catch { dripped = error.status }
        #expect(dripped == status(text))
    }

    @Test("tells whether a body belongs to it and whether the connection ends")
    func meaning() throws {
        func request(_ line: String, _ fields: String = "") throws -> HTTPRequest {
            try #require(try read("\(line)\r\nHost: a\r\n\(fields)\r\n"))
        }
        #expect(try !request("POST / HTTP/1.1", "Content-Length: 0\r\n").hasBody)
        #expect(try request("GET / HTTP/1.1", "Content-Length: 1\r\n").hasBody)
        #expect(try request("POST / HTTP/1.1", "Transfer-Encoding: chunked\r\n").hasBody)
        #expect(try !request("GET / HTTP/1.1").closes)
        #expect(try request("GET / HTTP/1.1", "Connection: foo, Close\r\n").closes)
        #expect(try request("GET / HTTP/1.0").closes)
        #expect(try !request("GET / HTTP/1.0", "Connection: keep-alive\r\n").closes)
        // A proxy's address names the host.
        #expect(try request("GET http://evil.example/x?y=1 HTTP/1.1").fields["host"] == "evil.example")
    }

    @Test(
        "asks for a WebSocket in the standard's way or is refused",
        arguments: [
            ("GET", [:], 101), ("POST", [:], 400), ("GET", ["Sec-WebSocket-Version": "8"], 426),
            ("GET", ["Sec-WebSocket-Key": "AAAA"], 400), ("GET", ["Connection": "close"], 400),
            ("GET", ["Upgrade": "h2c"], 400), ("GET", ["Content-Length": "3"], 400),
        ] as [(String, [String: String], Int)])
    func handshake(method: String, changes: [String: String], status: Int) throws {
        var fields = [
            "Host": "a", "Connection": "keep-alive, Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "a, b",
        ]
        fields.merge(changes) { $1 }
        let request = try #require(
            try read("\(method) /p HTTP/1.1\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n"))
        do {
            let handshake = try #require(try WebSocketHandshake(request))
            #expect(status == 101 && handshake.subprotocols == ["a", "b"])
        } catch let error as HTTPRefusal {
            #expect(error.status == status)
            if status == 426 { #expect(error.fields["Sec-WebSocket-Version"] == "13") }
        }
        #expect(try WebSocketHandshake(try #require(try read(Self.good))) == nil)
    }
}
