import Base
import Foundation
import Glibc
import PreviewProtocol

/// Why a test's connection did not go on.
struct ClientError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A connection of a test's own: HTTP and WebSocket as bytes, so that a test can send what no library would.
final class TestClient {
    /// A response.
    struct Response {
        var status: Int
        var fields: [String: String]
        var body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// What came over a WebSocket.
    enum Event {
        case message(PreviewMessage)
        /// The status that the server closed with. Nil: it hung up.
        case closed(UInt16?)

        var closeCode: UInt16? {
            if case .closed(let code) = self { return code }
            return nil
        }
    }

    let descriptor: Int32
    /// The version of the protocol that it speaks.
    private(set) var version: UInt8 = 1
    private let port: Int
    private var buffer: [UInt8] = []

    /// Connects; every wait for the server ends after `timeout` seconds.
    ///
    /// - Parameter receiveBuffer: Bytes that the system keeps for a client that does not read. Nil: as many as it likes.
    init(port: Int, timeout: Int = 20, receiveBuffer: Int32? = nil) throws {
        self.port = port
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if var count = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &count, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw ClientError("no connection: \(lastSystemError())") }
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Hangs up.
    func abandon() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    // Bytes.

    /// Sends bytes; false where the server does not take them any more.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Waits for more bytes; false where the server hung up.
    private func fill() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { throw ClientError("the server says nothing") }
            guard count > 0 else { return false }
            buffer += chunk[..<count]
            return true
        }
    }

    /// Takes at most so many bytes of what has come, or comes next, and throws them away; their number, 0 at the end.
    func readSome(_ limit: Int) -> Int {
        var chunk = [UInt8](repeating: 0, count: limit)
        return max(0, recv(descriptor, &chunk, chunk.count, 0))
    }

    private func take(_ count: Int) throws -> [UInt8]? {
        while buffer.count < count { guard try fill() else { return nil } }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// Waits until the server hangs up.
    func waitForEnd() throws { while try fill() { buffer.removeAll() } }

    // HTTP.

    /// Sends a request and waits for the response. `Host` is the server's unless it is among the fields.
    func request(
        _ method: String, _ path: String, _ fields: [String: String] = [:], body: [UInt8] = []
    ) throws -> Response {
        write(Array(head(method, path, fields, byteCount: body.count).utf8) + body)
        return try response(hasBody: method != "HEAD")
    }

    private func head(_ method: String, _ path: String, _ fields: [String: String], byteCount: Int) -> String {
        var fields = fields
        if fields["Host"] == nil { fields["Host"] = "127.0.0.1:\(port)" }
        if byteCount > 0, fields["Content-Length"] == nil { fields["Content-Length"] = "\(byteCount)" }
        return "\(method) \(path) HTTP/1.1\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n"
    }

    /// Waits for a response.
    func response(hasBody: Bool = true) throws -> Response {
        var end: Range<Int>?
        while end == nil {
            end = buffer.firstRange(of: Array("\r\n\r\n".utf8))
            if end == nil { guard try fill() else { throw ClientError("the server hung up without a response") } }
        }
        let lines = String(decoding: buffer[..<end!.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard lines[0].hasPrefix("HTTP/1.1 ") else { throw ClientError("no response, but \(lines[0].prefix(40))") }
        buffer.removeFirst(end!.upperBound)
        var response = Response(status: Int(lines[0].split(separator: " ")[1]) ?? 0, fields: [:], body: [])
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            response.fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        if hasBody, let count = response.fields["content-length"].flatMap({ Int($0) }) {
            guard let body = try take(count) else { throw ClientError("the response ends too early") }
            response.body = body
        }
        return response
    }

    // WebSocket.

    /// Asks for a WebSocket.
    func upgrade(
        _ path: String = "/preview", _ fields: [String: String] = [:], subprotocol: String? = "silhouette.preview.1"
    ) throws -> Response {
        var all = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        ]
        all["Sec-WebSocket-Protocol"] = subprotocol
        all.merge(fields) { $1 }
        write(Array(head("GET", path, all, byteCount: 0).utf8))
        return try response(hasBody: true)
    }

    /// A client that was greeted.
    static func preview(
        port: Int, _ fields: [String: String] = [:], timeout: Int = 20, receiveBuffer: Int32? = nil, version: UInt8 = 1
    ) throws -> TestClient {
        let client = try TestClient(port: port, timeout: timeout, receiveBuffer: receiveBuffer)
        client.version = version
        let response = try client.upgrade("/preview", fields, subprotocol: "silhouette.preview.\(version)")
        guard response.status == 101 else { throw ClientError("no WebSocket: \(response.status) \(response.text)") }
        let hello = try client.message()
        guard hello.header.kind == .hello else { throw ClientError("no greeting, but \(hello.header.kind)") }
        return client
    }

    /// Sends one frame of the WebSocket protocol.
    @discardableResult
    func sendFrame(_ opcode: UInt8, _ payload: some Collection<UInt8>, isFinal: Bool = true) -> Bool {
        var frame: [UInt8] = [opcode | (isFinal ? 0x80 : 0)]
        let count = payload.count
        if count < 126 {
            frame.append(0x80 | UInt8(count))
        } else if count < 65_536 {
            frame += [0x80 | 126, UInt8(count >> 8), UInt8(count & 255)]
        } else {
            frame.append(0x80 | 127)
            frame += (0..<8).map { UInt8(count >> (56 - 8 * $0) & 255) }
        }
        // A mask of zeros changes nothing, and costs nothing where there is much to send.
        let mask: [UInt8] = count < 20_000 ? [1, 2, 3, 4] : [0, 0, 0, 0]
        frame += mask
        frame.reserveCapacity(frame.count + count)
        if count < 20_000 {
            for (index, byte) in payload.enumerated() { frame.append(byte ^ mask[index & 3]) }
        } else {
            frame += payload
        }
        return write(frame)
    }

    /// Sends a message in pieces of so many bytes.
    @discardableResult
    func send(_ message: [UInt8], pieces: Int = .max, opcode: UInt8 = 2) -> Bool {
        var start = 0
        repeat {
            let end = min(message.count, start + min(pieces, message.count))
            let isSent = sendFrame(start == 0 ? opcode : 0, message[start..<end], isFinal: end == message.count)
            guard isSent else { return false }
            start = end
        } while start < message.count
        return true
    }

    /// Sends a message.
    @discardableResult
    func send(_ message: PreviewMessage) -> Bool {
        var message = message
        message.header.version = version
        return send(message.bytes)
    }

    /// Waits for the next message or the end; pings are answered.
    ///
    /// - Parameter pingLimit: Pings after which it gives up: they come for ever, so that no time limit would end the wait.
    func event(pingLimit: Int = 3) throws -> Event {
        var pingCount = 0
        while true {
            guard let start = try take(2) else { return .closed(nil) }
            var count = Int(start[1] & 127)
            if count >= 126 {
                guard let length = try take(count == 126 ? 2 : 8) else { return .closed(nil) }
                count = length.reduce(0) { $0 << 8 | Int($1) }
            }
            guard let payload = try take(count) else { return .closed(nil) }
            switch start[0] & 15 {
            case 8: return .closed(payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil)
            case 9:
                sendFrame(10, payload)
                pingCount += 1
                if pingCount == pingLimit { throw ClientError("only pings came") }
            case 2: return .message(try PreviewMessage(payload))
            default: throw ClientError("a frame of opcode \(start[0] & 15)")
            }
        }
    }

    /// Waits for the next message.
    func message() throws -> PreviewMessage {
        guard case .message(let message) = try event() else { throw ClientError("the server closed the connection") }
        return message
    }

    /// Waits for a message of a kind and passes over others.
    func message(_ kind: MessageKind) throws -> PreviewMessage {
        while true {
            let message = try self.message()
            if message.header.kind == kind { return message }
        }
    }
}

/// The JSON object of a message.
func object(_ message: PreviewMessage) throws -> [String: Any] {
    guard let object = try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any] else {
        throw ClientError("no JSON object")
    }
    return object
}
