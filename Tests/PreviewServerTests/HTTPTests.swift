import DeviceSupport
import Foundation
import Imaging
import PreviewServer
import TestSupport
import Testing

@Suite("Server: pages and pictures over HTTP")
struct HTTPTests {
    private func withPage(_ body: (PreviewServer) throws -> Void) throws {
        try withScratchFolder { folder in
            try makeFile("\(folder)/index.html", Array("<!doctype html>".utf8))
            try makeFile("\(folder)/app.js", [UInt8](repeating: 32, count: 300_000))
            try makeFile("\(folder)/secret.txt", [1])
            try makeFile("\(folder)/.hidden.js", [1])
            try makeFile("\(folder)/tests/x.js", [1])
            let server = try TestServer.mini { $0.webFolder = folder }
            defer { server.stop() }
            try body(server)
        }
    }

    @Test("The page's files come with strict headers, and not again while they are the same")
    func files() throws {
        try withPage { server in
            // One connection for all.
            let client = try TestClient(port: server.port)
            let page = try client.request("GET", "/?test=1")
            #expect(page.status == 200 && page.text == "<!doctype html>")
            #expect(page.fields["content-type"] == "text/html; charset=utf-8")
            let policy = try #require(page.fields["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
            for (name, value) in [
                ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
                ("cache-control", "no-cache"),
                ("permissions-policy", "camera=(self)"),
            ] { #expect(page.fields[name] == value) }
            let script = try client.request("GET", "/app.js")
            #expect(script.body.count == 300_000)
            #expect(script.fields["content-type"] == "text/javascript; charset=utf-8")
            let tag = try #require(script.fields["etag"])
            let again = try client.request("GET", "/app.js", ["If-None-Match": "\"x\", " + tag])
            #expect(again.status == 304 && again.body.isEmpty)
            let head = try client.request("HEAD", "/app.js")
            #expect(head.status == 200 && head.fields["content-length"] == "300000")
            #expect(try client.request("GET", "/index.html").status == 200)
        }
    }

    @Test(
        "Nothing else of the disk can be asked for",
        arguments: [
            "/secret.txt", "/.hidden.js", "/tests/x.js", "/../secret.txt", "/..%2f..%2fetc/passwd",
            "/%2e%2e/secret.txt",
            "//etc/passwd", "/app.js%00.html", "/nothing", "/app.js/",
        ])
    func absent(path: String) throws {
        try withPage { server throws in
            // Or the connection ends without a word.
            let response = try? TestClient(port: server.port).request("GET", path)
            #expect([nil, 400, 403, 404].contains(response?.status))
            #expect(try TestClient(port: server.port).request("GET", "/healthz").status == 200)
        }
    }

    @Test("Methods, hosts and origins are checked")
    func refusals() throws {
        try withPage { server throws in
            func status(_ method: String, _ path: String, _ fields: [String: String] = [:], body: [UInt8] = []) throws
                -> Int
            {
                try TestClient(port: server.port).request(method, path, fields, body: body).status
            }
            #expect(try status("POST", "/", body: [1]) == 405)
            #expect(try status("PUT", "/app.js", body: [1]) == 405)
            #expect(try status("GET", "/api/segment") == 405)
            #expect(try status("GET", "/preview") == 426)
            #expect(try status("GET", "/", ["Host": "evil.example"]) == 403)
            #expect(try status("POST", "/api/segment", ["Origin": "http://evil.example"], body: [1]) == 403)
            #expect(try status("POST", "/api/segment") == 411)
            #expect(try status("POST", "/api/segment", ["Content-Length": "0"]) == 400)
            #expect(try status("POST", "/api/segment", ["Content-Length": "-5"]) == 400)
            #expect(try status("POST", "/api/segment", ["Content-Length": "99999999999"]) == 413)
            #expect(try status("POST", "/api/segment", ["Transfer-Encoding": "chunked"], body: [1]) == 400)
            #expect(try status("GET", "/healthz") == 200)
        }
    }

    @Test("Counters are in Prometheus' format")
    func metrics() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let preview = try TestClient.preview(port: server.port)
        let response = try TestClient(port: server.port).request("GET", "/metrics")
        #expect(response.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response.text.contains("\nsilhouette_sessions 1\n"))
        for line in response.text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(line.wholeMatch(of: /silhouette_[a-z_]+(\{[a-z]+="[^"]+"\})? [0-9.e+-]+/) != nil, "\(line)")
        }
        _ = preview
    }

    @Test("A picture is segmented, raw or in a form, into each output")
    func segment() throws {
        let server = try TestServer.mini()
        defer { server.stop() }
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Checkout.path("Tests/Fixtures/mini.input.png"))))
        let labels = try ImageFile.readLabels(path: Checkout.path("Tests/Fixtures/mini.labels.png"))
        let client = try TestClient(port: server.port)
        try withScratchFolder { folder in
            func post(_ query: String, _ fields: [String: String] = [:], body: [UInt8]? = nil) throws
                -> TestClient.Response
            {
                try client.request("POST", "/api/segment" + query, fields, body: body ?? file)
            }
            func picture(_ response: TestClient.Response) throws -> Image {
                #expect(response.status == 200, "\(response.text)")
                return try response.body.withUnsafeBytes { try ImageFile.decode($0, name: "response").image }
            }
            let mask = try post("?output=mask&mask-size=model")
            #expect(mask.fields["content-type"] == "image/png")
            try makeFile("\(folder)/mask.png", mask.body)
            #expect(try ImageFile.readLabels(path: "\(folder)/mask.png") == labels)

            let form =
                Array("--b\r\nContent-Disposition: form-data; name=\"x\"; filename=\"x\"\r\n\r\n".utf8) + file
                + Array("\r\n--b--\r\n".utf8)
            #expect(
                try post(
                    "?output=mask&mask-size=model", ["Content-Type": "multipart/form-data; boundary=b"], body: form
                ).body == mask.body)

            #expect(try post("").fields["content-type"] == "image/jpeg")
            #expect(try picture(try post("", ["Accept": "image/webp, image/*;q=0.5"])).size == labels.size)
            #expect(try post("", ["Accept": "image/webp, image/*;q=0.5"]).fields["content-type"] == "image/webp")
            // A closer name counts before a wider one, and no type at all is any.
            for (accepted, type) in [
                ("image/jpeg;q=0, */*", "image/png"), ("image/*;q=0.1, image/webp;q=0", "image/jpeg"),
                ("", "image/jpeg"),
                ("image/webp;q=0.2, image/png;q=0.3", "image/png"),
            ] {
                #expect(try post("", ["Accept": accepted]).fields["content-type"] == type, "\(accepted)")
            }
            #expect(try picture(try post("?output=cutout&class=person")).format == .rgba)
            #expect(try picture(try post("?output=confidence&class=person&class=8")).size == labels.size)
            let chosen = try #require(labels.bytes.first { $0 != 0 })
            var made: Set<[UInt8]> = []
            for query in [
                "background=blur", "background=blur:4", "background=gray&edges=plain", "background=%23ff8000&feather=9",
                "background=gradient:90:red,blue&shift=-4", "background=dim&threshold=0.8",
            ] {
                let response = try post("?output=composite&class=\(chosen)&\(query)", ["Accept": "image/png"])
                #expect(response.status == 200, "\(response.text)")
                #expect(try picture(response).size == labels.size)
                made.insert(response.body)
            }
            #expect(made.count == 6)
            #expect(try post("?output=overlay&opacity=1&outline=2").body != post("?output=overlay").body)
            // A background says that a composite is wanted.
            let before = ["Accept": "image/png"]
            #expect(try post("?background=gray", before).body == post("?output=composite&background=gray", before).body)
            // The last of equal parameters counts.
            #expect(try post("?output=mask&output=cutout").body == post("?output=cutout").body)
            #expect(try post("?background=black&background=gray", before).body == post("?background=gray", before).body)
            // The other classes stay as they were.
            let others = (1..<21).filter { $0 != chosen }.map { "class=\($0)" }.joined(separator: "&")
            #expect(try post("?output=cutout&drop-class=\(chosen)").body == post("?output=cutout&\(others)").body)
            #expect(try post("?output=mask&class=1,person").body == post("?output=mask&class=1&class=15").body)
            let recolored = (0..<21).map { "class-color=\($0)=%23123456" }.joined(separator: "&")
            for (output, more) in [
                ("output=overlay", recolored), ("output=mask", recolored), ("output=mask&class=bicycle", "shift=-3"),
                ("output=cutout&class=bicycle", "fit=crop"), ("output=mask", "fit=letterbox"),
            ] {
                let query = "\(output)&\(more)"
                let wide = try TestServer.picture.resized(width: 90, height: 40).encoded(as: .png)
                let response = try post("?\(query)", before, body: wide)
                #expect(try picture(response).size == PixelSize(width: 90, height: 40), "\(query)")
                #expect(try response.body != post("?\(output)", before, body: wide).body, "\(query) changes nothing")
            }
        }
    }

    @Test("A request that makes no sense, and a picture that is none, have their status")
    func segmentRefusals() throws {
        let server = try TestServer.mini {
            $0.limits.pixelCount = 4224
            // Two planes of confidences fit in beside what a picture takes in any case.
            $0.limits.pictureByteCount = (24 << 20) + 65 * 64 * 20
        }
        defer { server.stop() }
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Checkout.path("Tests/Fixtures/mini.input.png"))))
        func status(_ query: String, _ fields: [String: String] = [:], body: [UInt8]) throws -> Int {
            let response = try TestClient(port: server.port).request("POST", "/api/segment" + query, fields, body: body)
            #expect(response.text.split(separator: "\n").count == 1)
            return response.status
        }
        for query in [
            "?output=x", "?mask-size=x", "?class=unicorn", "?model=x", "?nonsense=1", "?output=cutout&mask-size=model",
            "?output=composite", "?output=composite&background=/etc/passwd", "?output=composite&background=blur:0",
            "?output=confidence&edges=guided", "?output=mask&background=blur", "?output=cutout&opacity=0.5", "?edges=x",
            "?shift=nan", "?output=cutout&threshold=1", "?outline=99", "?fit=x", "?class=1&drop-class=2",
            "?output=mask&mask-size=model&edges=plain", "?fit=tile", "?class-color=1",
            "?class-color=unicorn=red", "?output=cutout&class-color=1=red", "?background-fit=tile",
            "?drop-class=" + (1..<21).map(String.init).joined(separator: "&drop-class="),
        ] {
            #expect(try status(query, body: file) == 400, "\(query)")
        }
        for (query, words) in [
            ("?class=1,unicorn", "no class 'unicorn'; it knows background, aeroplane"),
            ("?class=1,", "class needs names or indices with commas in between, not '1,'"),
            ("?drop-class=", "drop-class needs names or indices with commas in between, not ''"),
            ("?output=composite", "output=composite needs background: a colour as #rrggbb, blur"),
            ("?background=", "%23"), ("?background=gradient:90:", "%23"), ("?class-color=person=", "%23"),
            ("?threshold=", "not ''\n"), ("?background=photo.jpg", "not 'photo.jpg'\n"),
            ("?background=dim:2", "background needs a number from 0 to 1 for dim's amount, not '2'"),
        ] {
            let response = try TestClient(port: server.port).request("POST", "/api/segment" + query, body: file)
            #expect(response.status == 400 && response.text.contains(words), "\(query): \(response.text)")
        }
        #expect(try status("?output=mask", ["Accept": "text/html"], body: file) == 406)
        #expect(try status("?output=mask", ["Accept": "text/html, image/*;q=0"], body: file) == 406)
        #expect(try status("", body: file) == 413)
        #expect(
            try TestClient(port: server.port).request("POST", "/api/segment", body: file).text
                == "65x65 are more than 4224 pixels, the limit of this server\n")
        #expect(try status("", body: Array("no picture".utf8)) == 415)
        #expect(try status("", body: Array(TestServer.picture.encoded(as: .jpeg).prefix(300))) == 422)
        #expect(try status("", ["Content-Type": "multipart/form-data; boundary=b"], body: file) == 400)
        // As many planes as classes, or as the others where those are fewer: the background alone.
        let small = try TestServer.picture.resized(width: 65, height: 64).encoded(as: .png)
        #expect(try status("?output=confidence&class=1&class=2&class=3", body: small) == 422)
        let client = try TestClient(port: server.port)
        #expect(try client.request("POST", "/api/segment?output=confidence&class=1&class=2", body: small).status == 200)
        #expect(try client.request("POST", "/api/segment?output=confidence", body: small).status == 200)
    }

    @Test("Of pictures that come at the same time eight wait, and the others are told to come back")
    func crowd() throws {
        let engine = FakeEngine()
        let server = try TestServer.fake(engine)
        defer { server.stop() }
        let file = try Image(width: 2, height: 1, format: .gray, bytes: [0, 255]).encoded(as: .png)
        let head =
            "POST /api/segment?output=mask HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
            + "Content-Length: \(file.count)\r\nExpect: 100-continue\r\n\r\n"
        let clients = try (0..<12).map { _ in try TestClient(port: server.port) }
        // All are asked to go on before any of them has sent its picture.
        for client in clients {
            client.write(Array(head.utf8))
            #expect(try client.response(hasBody: false).status == 100)
        }
        for client in clients { client.write(file) }
        func refusedCount() throws -> Int {
            let text = try TestClient(port: server.port).request("GET", "/metrics").text
            let line = text.split(separator: "\n").first { $0.contains("http_responses_total{status=\"503\"}") }
            return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        }
        for _ in 0..<500 where try refusedCount() < 4 { usleep(20_000) }
        #expect(try refusedCount() == 4)
        engine.allow(12)
        let statuses = try clients.map { try $0.response().status }
        #expect(statuses.filter { $0 == 200 }.count == 8)
        #expect(statuses.filter { $0 == 503 }.count == 4)
        // There is room again.
        engine.allow(1)
        #expect(try clients[0].request("POST", "/api/segment?output=mask", body: file).status == 200)
    }

    @Test("A label with a comma of its own can be chosen and left out")
    func commas() throws {
        let server = try TestServer.fake(
            FakeEngine(isGated: false), labels: ["background", "lamp, red", "lamp", "cup"])
        defer { server.stop() }
        let picture = try Image(size: PixelSize(width: 2, height: 1), format: .rgb, color: .white).encoded(as: .png)
        /// The classes of a mask whose every pixel is class 1.
        func mask(_ query: String) throws -> [UInt8]? {
            let path = "/api/segment?output=mask&\(query)"
            let response = try TestClient(port: server.port).request("POST", path, body: picture)
            guard response.status == 200 else { return nil }
            return try withScratchFolder { folder in
                try makeFile("\(folder)/mask.png", response.body)
                return try ImageFile.readLabels(path: "\(folder)/mask.png").bytes
            }
        }
        #expect(try mask("class=cup,lamp,%20red") == [1, 1])
        #expect(try mask("class=Lamp,%20Red&class=cup") == [1, 1])
        #expect(try mask("class=lamp,cup") == [0, 0])
        #expect(try mask("drop-class=lamp,%20red") == [0, 0])
        #expect(try mask("drop-class=lamp,cup") == [1, 1])
        #expect(try mask("class=red") == nil)
    }
}
