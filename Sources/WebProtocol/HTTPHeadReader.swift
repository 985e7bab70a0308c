/// Reads the head of an HTTP/1.1 request from the bytes as they come, strictly by RFC 9112.
///
/// Everything that is decided about a request (its origin, its host, its length, its token) rests on what this reads. So it
/// refuses whatever two readers could understand in two ways: bare line feeds, folded lines, blanks before a colon, fields
/// twice that may stand once, lengths that are no plain number, lengths together with a transfer coding.
///
///     bytes ── append ──> nil: more must come │ a request, and the bytes behind its head │ a refusal, and the end
package struct HTTPHeadReader: Sendable {
    /// Most bytes of a request line, and of a whole head.
    package static let lineLimit = 8_000, headLimit = 16_384
    /// Most fields.
    package static let fieldLimit = 100

    private var bytes: [UInt8] = []
    /// Where the search for the end goes on: of the request line, then of the head. Nothing is looked through twice, however
    /// small the pieces are.
    private var searched = 0
    /// Whether the request line has come and been looked at.
    private var hasLine = false

    package init() {}

    /// Adds bytes.
    ///
    /// - Returns: The request once its head is whole, and what came behind it. The reader is then as new.
    /// - Throws: The answer to a head that is refused. Nothing after it can be understood: the connection ends.
    package mutating func append(
        _ piece: some Collection<UInt8>
    ) throws(HTTPRefusal) -> (request: HTTPRequest, rest: [UInt8])? {
        bytes.append(contentsOf: piece)
        if !hasLine {
            // What cannot become a request is told so at once, and not when its end should have come.
            guard let end = try endOfLine() else { return nil }
            _ = try HTTPRequestLine(bytes[..<end])
            hasLine = true
        }
        guard let end = endOfHead() else {
            guard bytes.count <= Self.headLimit else { throw HTTPRefusal.headTooLarge }
            return nil
        }
        guard end <= Self.headLimit else { throw HTTPRefusal.headTooLarge }
        let request = try HTTPRequest(head: bytes[..<end])
        let rest = Array(bytes[end...])
        self = HTTPHeadReader()
        return (request, rest)
    }

    /// Position behind the request line, its end of line not counted. Nil: it has not come whole, and may still be one.
    private mutating func endOfLine() throws(HTTPRefusal) -> Int? {
        // Empty lines before a request are allowed, as old clients send one behind a body.
        let blank = bytes.prefix(5).prefix { $0 == 13 || $0 == 10 }.count
        guard blank <= 4 else { throw HTTPRefusal(400, "a request begins with its method") }
        guard blank < bytes.count else { return nil }
        bytes.removeFirst(blank)
        if let feed = bytes[searched...].firstIndex(of: 10) {
            searched = feed
            return bytes[..<feed].last == 13 ? feed - 1 : feed
        }
        searched = bytes.count
        // One more, since the carriage return may be the last that has come.
        return bytes.count > Self.lineLimit + 1 ? bytes.count : nil
    }

    /// Position behind the empty line. A line feed alone ends lines too where the end is looked for, so that a head with bare
    /// ones is refused and not waited for.
    private mutating func endOfHead() -> Int? {
        var index = searched
        while index < bytes.count {
            guard bytes[index] == 10 else {
                index += 1
                continue
            }
            if index + 1 < bytes.count, bytes[index + 1] == 10 { return index + 2 }
            if index + 2 < bytes.count, bytes[index + 1] == 13, bytes[index + 2] == 10 { return index + 3 }
            index += 1
        }
        searched = max(0, bytes.count - 3)
        return nil
    }
}

/// The first line of a request.
struct HTTPRequestLine {
    let method: String
    let target: [UInt8]
    let minorVersion: Int

    init(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) {
        guard line.count <= HTTPHeadReader.lineLimit else {
            throw HTTPRefusal(414, "the address is longer than \(HTTPHeadReader.lineLimit) bytes")
        }
        let words = line.split(separator: 32, omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].count <= 32, words[0].allSatisfy(\.isTokenByte) else {
            throw HTTPRefusal(400, "a request begins with a line like GET / HTTP/1.1")
        }
        guard words[1].allSatisfy({ $0 > 32 && $0 != 127 }), !words[1].isEmpty else {
            throw HTTPRefusal(400, "there is a blank or a control character in the address")
        }
        switch String(decoding: words[2], as: UTF8.self) {
        case "HTTP/1.1": minorVersion = 1
        case "HTTP/1.0": minorVersion = 0
        case let other where other.hasPrefix("HTTP/"):
            throw HTTPRefusal(505, "this server speaks HTTP/1.1")
        default: throw HTTPRefusal(400, "a request begins with a line like GET / HTTP/1.1")
        }
        method = String(decoding: words[0], as: UTF8.self)
        target = Array(words[1])
    }
}

extension HTTPRequest {
    /// Fields that stand once; of all others several make one list.
    private static let single: Set = [
        "host", "origin", "content-length", "content-type", "authorization", "transfer-encoding", "expect", "upgrade",
        "sec-websocket-key", "sec-websocket-version", "if-none-match",
    ]

    /// - Parameter head: With the empty line behind it.
    init(head: ArraySlice<UInt8>) throws(HTTPRefusal) {
        var lines: [ArraySlice<UInt8>] = []
        var start = head.startIndex
        while start < head.endIndex, let feed = head[start...].firstIndex(of: 10) {
            guard feed > start, head[feed - 1] == 13 else {
                throw HTTPRefusal(400, "lines of a request end with a carriage return and a line feed")
            }
            lines.append(head[start..<feed - 1])
            start = feed + 1
        }
        guard let first = lines.first else { throw HTTPRefusal(400, "there is no request") }
        let line = try HTTPRequestLine(first)
        guard lines.count - 2 <= HTTPHeadReader.fieldLimit else { throw HTTPRefusal.headTooLarge }
        var fields: [String: String] = [:]
        for line in lines.dropFirst().dropLast() {
            let (name, value) = try Self.field(line)
            if let earlier = fields[name] {
                guard !Self.single.contains(name) else { throw HTTPRefusal(400, "the field \(name) stands twice") }
                fields[name] = earlier + (name == "cookie" ? "; " : ", ") + value
            } else {
                fields[name] = value
            }
        }
        let (path, query) = try Self.target(line.target, host: &fields["host"])
        self.init(method: line.method, path: path)
        self.query = query
        self.fields = fields
        minorVersion = line.minorVersion
        guard fields["host"] != nil || minorVersion == 0 else { throw HTTPRefusal(400, "the field Host is missing") }
        if let length = fields["content-length"] {
            guard !length.isEmpty, length.utf8.count <= 18, length.utf8.allSatisfy({ (48...57).contains($0) }) else {
                throw HTTPRefusal(400, "Content-Length is a number of bytes")
            }
            guard fields["transfer-encoding"] == nil else {
                throw HTTPRefusal(400, "Content-Length and Transfer-Encoding exclude each other")
            }
        }
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: 58), colon > line.startIndex, line[..<colon].allSatisfy(\.isTokenByte)
        else { throw HTTPRefusal(400, "a line of the head is no field: a name, a colon, a value") }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 }) else {
            throw HTTPRefusal(400, "there is a control character in the head")
        }
        let trimmed = value.drop(while: \.isBlankByte)
        let end = trimmed.lastIndex { !$0.isBlankByte }.map { $0 + 1 } ?? trimmed.startIndex
        return (
            String(decoding: line[..<colon], as: UTF8.self).lowercased(),
            String(decoding: trimmed[trimmed.startIndex..<end], as: UTF8.self)
        )
    }

    /// The path and the query of an address. One with a host of its own (a proxy's) has that in place of the field.
    private static func target(
        _ target: [UInt8], host: inout String?
    ) throws(HTTPRefusal) -> (path: String, query: [(name: String, value: String)]) {
        var rest = target[...]
        if target == [42] { return ("*", []) }
        for scheme in ["http://", "https://"] where rest.starts(with: scheme.utf8) {
            rest = rest.dropFirst(scheme.utf8.count)
            let name = rest.prefix { $0 != 47 && $0 != 63 }
            host = String(decoding: name, as: UTF8.self)
            rest = rest.dropFirst(name.count)
            if rest.first != 47 { rest = [47] + rest }
        }
        guard rest.first == 47 else { throw HTTPRefusal(400, "an address begins with /") }
        // A fragment is the browser's own and not sent.
        let parts = rest.prefix { $0 != 35 }.split(separator: 63, maxSplits: 1, omittingEmptySubsequences: false)
        let path = try decoded(parts[0])
        guard parts.count > 1 else { return (path, []) }
        var query: [(name: String, value: String)] = []
        for part in parts[1].split(separator: 38) {
            let pair = part.split(separator: 61, maxSplits: 1, omittingEmptySubsequences: false)
            let name = try decoded(pair[0], isForm: true)
            if !name.isEmpty { query.append((name, pair.count > 1 ? try decoded(pair[1], isForm: true) : "")) }
            guard query.count <= HTTPHeadReader.fieldLimit else { throw HTTPRefusal(414, "too many parameters") }
        }
        return (path, query)
    }

    /// Text with its percent signs decoded.
    ///
    /// - Parameter isForm: Whether a plus stands for a blank, as forms write it.
    private static func decoded(_ bytes: ArraySlice<UInt8>, isForm: Bool = false) throws(HTTPRefusal) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard bytes[index] == 37 else {
                result.append(isForm && bytes[index] == 43 ? 32 : bytes[index])
                index += 1
                continue
            }
            guard index + 2 < bytes.endIndex, let high = bytes[index + 1].hexDigit, let low = bytes[index + 2].hexDigit
            else { throw HTTPRefusal(400, "a percent sign in the address is followed by two hexadecimal digits") }
            result.append(high << 4 | low)
            index += 3
        }
        guard result.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
            throw HTTPRefusal(400, "there is a control character in the address")
        }
        guard let text = String(validating: result, as: UTF8.self) else {
            throw HTTPRefusal(400, "the address is no UTF-8")
        }
        return text
    }
}

extension UInt8 {
    /// Whether it may be part of a method or a field's name: RFC 9110, 5.6.2.
    var isTokenByte: Bool {
        switch self {
        case 48...57, 65...90, 97...122: true
        case 33, 35...39, 42, 43, 45, 46, 94...96, 124, 126: true
        default: false
        }
    }

    var isBlankByte: Bool { self == 32 || self == 9 }

    var hexDigit: UInt8? {
        switch self {
        case 48...57: self - 48
        case 65...70: self - 55
        case 97...102: self - 87
        default: nil
        }
    }
}
