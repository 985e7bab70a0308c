// modules: WebProtocol
// files: PreviewServer/HTTP/AccessRules.swift
// seeds: Tests/Fixtures/web
// length: 2048
//
// Fuzzes the head of an HTTP request and what is decided by it alone: the WebSocket's handshake, who may connect.
//
// In pieces of any length it must be the same request or the same refusal, and what is taken must say what the bytes say:
// every line of the head is found in the request again, and the request written anew is read as itself.
//
// The first byte of an input is the length of the pieces, less one.

func fuzz(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    let whole = read(bytes, inPieces: max(1, bytes.count))
    switch (whole, read(bytes, inPieces: Int(first) + 1)) {
    case (.nothing, .nothing): precondition(bytes.count <= HTTPHeadReader.headLimit)
    case (.refusal(let whole), .refusal(let pieces)):
        precondition(whole == pieces, "\(whole) and in pieces \(pieces)")
        precondition((400..<600).contains(whole.status) && fault(inLine: whole.line) == nil)
        checkResponse(to: whole)
    case (.request(let request, let rest), .request(let other, let otherRest)):
        precondition(request.isEqual(to: other) && rest == otherRest, "the pieces change the request")
        precondition(bytes.suffix(rest.count).elementsEqual(rest))
        check(request, head: bytes.dropLast(rest.count))
        decide(request)
    case (let whole, let pieces): fatalError("\(whole) and in pieces \(pieces)")
    }
}

private enum Outcome {
    case nothing
    case refusal(HTTPRefusal)
    case request(HTTPRequest, rest: [UInt8])
}

private func read(_ bytes: [UInt8], inPieces length: Int) -> Outcome {
    var reader = HTTPHeadReader()
    for piece in pieces(of: bytes, length: length) {
        do throws(HTTPRefusal) {
            guard let (request, rest) = try reader.append(piece) else { continue }
            return .request(request, rest: rest + bytes[piece.endIndex...])
        } catch {
            return .refusal(error)
        }
    }
    return .nothing
}

extension HTTPRequest {
    fileprivate func isEqual(to other: HTTPRequest) -> Bool {
        method == other.method && path == other.path && fields == other.fields && minorVersion == other.minorVersion
            && query.elementsEqual(other.query) { $0.name == $1.name && $0.value == $1.value }
    }
}

/// Holds a request against the bytes that it was read from.
private func check(_ request: HTTPRequest, head: ArraySlice<UInt8>) {
    var lines = head.drop { $0 == 13 || $0 == 10 }.split(separator: 10, omittingEmptySubsequences: false)
    precondition(lines.popLast()?.isEmpty == true && lines.last == [13] && lines.allSatisfy { $0.last == 13 })
    let words = text(lines[0].dropLast()).split(separator: " ")
    precondition(words.count == 3 && words[0] == request.method && words[2] == "HTTP/1.\(request.minorVersion)")
    // An address of its own names the host.
    let hasHost = words[1].hasPrefix("http")
    var fields: [String: String] = [:]
    for line in lines[1..<lines.count - 1] {
        let name = text(line.prefix { $0 != 58 }).lowercased()
        let isBlank: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
        var value = line.dropLast().drop { $0 != 58 }.dropFirst().drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        fields[name] = fields[name].map { $0 + (name == "cookie" ? "; " : ", ") + text(value) } ?? text(value)
    }
    if hasHost { fields["host"] = request.fields["host"] }
    precondition(request.fields == fields, "the fields are not those of the head")
    for text in [request.path] + request.query.flatMap({ [$0.name, $0.value] }) {
        precondition(!text.utf8.contains { $0 < 32 || $0 == 127 })
    }

    // Written anew it is the same request.
    var written = "\(request.method) \(request.path == "*" ? "*" : escaped(request.path, but: "/"))"
    if !request.query.isEmpty {
        written += "?" + request.query.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&")
    }
    written += " HTTP/1.\(request.minorVersion)\r\n"
    for (name, value) in request.fields { written += "\(name): \(value)\r\n" }
    let again = Array((written + "\r\n").utf8)
    // Escaping makes it longer, and an empty field behind another one leaves a blank at the end.
    guard again.count <= HTTPHeadReader.lineLimit, !request.fields.values.contains(where: { $0.last == " " }) else {
        return
    }
    guard case .request(let copy, let rest) = read(again, inPieces: again.count), rest.isEmpty,
        copy.isEqual(to: request)
    else { fatalError("what is read is not what is written: \(written)") }
}

private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

private func escaped(_ text: String, but kept: Unicode.Scalar? = nil) -> String {
    text.utf8.map { byte in
        let scalar = Unicode.Scalar(byte)
        let isKept = scalar == kept || (byte < 128 && scalar.properties.isAlphabetic)
        return isKept ? String(Character(scalar)) : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
}

private func checkResponse(to refusal: HTTPRefusal) {
    let response = HTTPResponse(refusal)
    let head = response.head(closes: true)
    let ends = head.indices.filter { head[$0] == 10 }
    precondition(ends.allSatisfy { $0 > 0 && head[$0 - 1] == 13 } && head.suffix(4) == [13, 10, 13, 10])
    precondition(ends.count == 2 + 9 + refusal.fields.count + 1, "a field more or less than there are")
}

private let rules = [
    AccessRules(host: "127.0.0.1", port: 8080, usesTLS: false, token: "secret", allowedOrigins: ["https://a.example"]),
    AccessRules(host: "0.0.0.0", port: 443, usesTLS: true, token: nil, allowedOrigins: []),
]

/// Goes through what a server decides by a head; the answers must follow from each other.
private func decide(_ request: HTTPRequest) {
    do throws(HTTPRefusal) {
        if let handshake = try WebSocketHandshake(request) {
            precondition(request.method == "GET" && !request.hasBody && handshake.key.utf8.count == 24)
            precondition(handshake.subprotocols.allSatisfy { !$0.contains(" ") && !$0.contains(",") })
        }
    } catch {
        precondition(error.status == 400 || error.status == 426)
        checkResponse(to: error)
    }
    _ = request.closes
    let (host, origin) = (request.fields["host"], request.fields["origin"])
    for rules in rules {
        let isOurs = rules.allows(host: host)
        if isOurs { precondition(host != nil && host?.contains("/") == false) }
        if let origin, rules.allows(origin: origin, host: host ?? "") {
            precondition(origin.contains("://"), "an origin of no site")
        }
        // Nobody gets in who does not show the token somewhere.
        guard let token = rules.token else { continue }
        let shown = [request.fields["authorization"], request.fields["cookie"], request.parameter("token")]
        if rules.authorization(of: request) != .refused {
            precondition(shown.contains { $0?.contains(token) == true }, "the token is not there")
        }
    }
}

private let heads: [String] = [
    "GET /?token=secret HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: close\r\n\r\n",
    "GET http://a.example/x?y=1&z HTTP/1.1\r\nCookie: a=b\r\nCookie: silhouette-8080=secret\r\nHost: b\r\n\r\n",
    "\r\nOPTIONS * HTTP/1.0\r\nAuthorization: Bearer secret\r\nOrigin: https://a.example\r\n\r\nrest",
    "POST /api/segment?output=mask&background=%23ff8000+ HTTP/1.1\r\nHost: [::1]:443\r\nContent-Length: 12\r\n"
        + "Content-Type: image/png\r\nExpect: 100-continue\r\nX: \t a \t\r\nx: b\r\n\r\n",
    "GET /preview HTTP/1.1\r\nHost: 192.168.1.2:443\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
        + "Origin: https://192.168.1.2:443\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: a, b\r\n\r\n",
]

let seeds: [[UInt8]] = heads.flatMap { head in [0, 255].map { (length: UInt8) -> [UInt8] in [length] + head.utf8 } }
