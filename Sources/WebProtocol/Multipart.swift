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
            // Lines end with these two bytes alone: a name may hold what other texts take for an end of line.
            for line in body[headStart..<headEnd].split(whereSeparator: { $0 == 13 || $0 == 10 }) {
                let line = String(decoding: line, as: UTF8.self)
                guard line.lowercased().hasPrefix("content-disposition:") else { continue }
                if parameter("filename", of: line) != nil || parameter("filename*", of: line) != nil { return range }
                if parameter("name", of: line) == "image", named == nil { named = range }
            }
            position = end + delimiter.count
        }
        throw MultipartError("the form has more than \(partLimit) parts")
    }

    /// A parameter of a header field: `type; name=value; other="quoted"`.
    ///
    /// Read by scalars: a sign that joins the one before, as an accent does, would hide a quotation mark.
    static func parameter(_ name: String, of field: String) -> String? {
        var rest = Substring(field).unicodeScalars
        while let semicolon = rest.firstIndex(of: ";") {
            rest = rest[rest.index(after: semicolon)...].drop { $0 == " " || $0 == "\t" }
            guard let equals = rest.firstIndex(of: "=") else { return nil }
            let isIt = String(rest[..<equals]).lowercased() == name
            rest = rest[rest.index(after: equals)...]
            var value = String.UnicodeScalarView()
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let scalar = rest.popFirst(), scalar != "\"" {
                    if scalar == "\\", let escaped = rest.popFirst() {
                        value.append(escaped)
                    } else {
                        value.append(scalar)
                    }
                }
            } else {
                let word = rest.prefix { $0 != ";" && !$0.properties.isWhitespace }
                value.append(contentsOf: word)
                rest = rest[word.endIndex...]
            }
            if isIt { return String(value) }
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
