/// The request that makes a connection a WebSocket: RFC 6455, 4.2.
package struct WebSocketHandshake: Equatable, Sendable {
    /// What the answer's `Sec-WebSocket-Accept` is made of.
    package let key: String
    /// The subprotocols that are offered.
    package let subprotocols: [String]

    /// Reads a request.
    ///
    /// - Returns: Nil where the request asks for no upgrade.
    /// - Throws: Where it asks for another one, or not in the standard's way.
    package init?(_ request: HTTPRequest) throws(HTTPRefusal) {
        // An offer of another protocol is none of a WebSocket's: it may be passed over.
        guard let key = request.fields["sec-websocket-key"] else { return nil }
        guard Self.words(request.fields["connection"]).contains("upgrade"),
            Self.words(request.fields["upgrade"]) == ["websocket"]
        else { throw HTTPRefusal(400, "a WebSocket needs the fields Connection: Upgrade and Upgrade: websocket") }
        guard request.method == "GET", request.minorVersion == 1 else {
            throw HTTPRefusal(400, "a WebSocket begins with GET and HTTP/1.1")
        }
        guard !request.hasBody else { throw HTTPRefusal(400, "a WebSocket's request has no body") }
        guard request.fields["sec-websocket-version"] == "13" else {
            throw HTTPRefusal(426, "WebSockets have version 13 here", ["Sec-WebSocket-Version": "13"])
        }
        guard Self.isKey(key) else {
            throw HTTPRefusal(400, "Sec-WebSocket-Key is 16 bytes in base64")
        }
        self.key = key
        subprotocols = (request.fields["sec-websocket-protocol"] ?? "").split(separator: ",").map {
            String($0.filter { $0 != " " && $0 != "\t" })
        }
    }

    /// What is hashed for the answer.
    package var challenge: String { key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" }

    private static func words(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
    }

    /// 16 bytes are 22 digits and two signs of equality.
    private static func isKey(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        return bytes.count == 24 && bytes.suffix(2) == [61, 61]
            && bytes.dropLast(2).allSatisfy { byte in
                switch byte {
                case 43, 47, 48...57, 65...90, 97...122: true
                default: false
                }
            }
    }
}
