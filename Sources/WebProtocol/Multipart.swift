/// The file of a form: `multipart/form-data` (RFC 7578), as browsers and `curl -F` send it.
package enum Multipart {
    /// Bytes of the head of one part.
    private static let headLimit = 8192
    private static let partLimit = 32

    /// Finds the first part that has a file name, or else the part called `image`.
    ///
    /// - Parameters:
    ///   - type: The request's `Content-Type`, with the boundary.
    /// - Returns: Where in the body the file's bytes are.
    /// - Throws: `MultipartError`.
    package static func file(in body: [UInt8], type: String) throws(MultipartError) -> Range<Int> {
        guard let boundary = parameter("boundary", of: type), (1...70).contains(boundary.utf8.count) else {
            throw MultipartError("the form has no boundary of 1 to 70 characters")
        }
        // A delimiter begins a line; the first one may begin the body.
        let delimiter = Array("\r\n--\(boundary)".utf8)
        var position: Int
        if body.starts(with: delimiter.dropFirst(2)) {
            position = delimiter.count - 2
        } else if let first = body.firstRange(of: delimiter, from: 0) {
            position = first + delimiter.count
        } else {
            throw MultipartError("the form's boundary does not occur in it")
        }
        var named: Range<Int>?
        for _ in 0..<partLimit {
            if body[position...].starts(with: [0x2d, 0x2d]) {
                guard let named else { throw MultipartError("the form has no file") }
                return named
            }
            // Spaces may follow a delimiter.
            while position < body.count, body[position] == 0x20 || body[position] == 0x09 { position += 1 }
            guard body[position...].starts(with: [0x0d, 0x0a]) else { throw MultipartError("the form ends too early") }
            let headStart = position + 2
            let headEnd: Int
            let start: Int
            if body[headStart...].starts(with: [0x0d, 0x0a]) {
                (headEnd, start) = (headStart, headStart + 2)
            } else {
                guard let end = body.prefix(headStart + headLimit).firstRange(of: [13, 10, 13, 10], from: headStart)
                else {
                    throw MultipartError("the head of a part does not end")
                }
                (headEnd, start) = (end, end + 4)
            }
            guard let end = body.firstRange(of: delimiter, from: max(headStart, start - 2)) else {
                throw MultipartError("the form ends too early")
            }
            let range = start..<max(start, end)
            let head = String(decoding: body[headStart..<headEnd], as: UTF8.self)
            for line in head.split(whereSeparator: \.isNewline)
            where line.lowercased().hasPrefix("content-disposition:") {
                if parameter("filename", of: String(line)) != nil || parameter("filename*", of: String(line)) != nil {
                    return range
                }
                if parameter("name", of: String(line)) == "image", named == nil { named = range }
            }
            position = end + delimiter.count
        }
        throw MultipartError("the form has more than \(partLimit) parts")
    }

    /// A parameter of a header field: `type; name=value; other="quoted"`.
    static func parameter(_ name: String, of field: String) -> String? {
        var rest = field[...]
        while let semicolon = rest.firstIndex(of: ";") {
            rest = rest[rest.index(after: semicolon)...].drop { $0 == " " || $0 == "\t" }
            guard let equals = rest.firstIndex(of: "=") else { return nil }
            let isIt = rest[..<equals].lowercased() == name
            rest = rest[rest.index(after: equals)...]
            var value = ""
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let character = rest.popFirst(), character != "\"" {
                    if character == "\\", let escaped = rest.popFirst() {
                        value.append(escaped)
                    } else {
                        value.append(character)
                    }
                }
            } else {
                value = String(rest.prefix { $0 != ";" && !$0.isWhitespace })
                rest = rest.dropFirst(value.count)
            }
            if isIt { return value }
        }
        return nil
    }
}

/// What is wrong with a form.
package struct MultipartError: Error, Equatable, Sendable {
    /// One line.
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension Collection where Element == UInt8, Index == Int {
    /// Where `pattern` first begins at or behind an index.
    fileprivate func firstRange(of pattern: [UInt8], from start: Int) -> Int? {
        guard let first = pattern.first, start <= endIndex - pattern.count else { return nil }
        return withContiguousStorageIfAvailable { bytes in
            // A slice's storage begins at its start index.
            let base = startIndex
            var index = start - base
            let last = bytes.count - pattern.count
            while index <= last {
                if bytes[index] == first, bytes[index..<index + pattern.count].elementsEqual(pattern) {
                    return index + base
                }
                index += 1
            }
            return nil
        } ?? nil
    }
}
