// modules: WebProtocol
// seeds: Tests/Fixtures/web/form
//
// Fuzzes forms with a file in them, as they are posted to the server.
//
// What is found must lie between two delimiters; a form that is written here of the input's bytes must give them back.
//
// The first byte of an input says which: a type on a line and a form, or the parts of a form to be written.

func fuzz(_ input: [UInt8]) {
    guard let first = input.first else { return }
    if first % 2 == 0 { readForm(Array(input.dropFirst())) } else { writeForm(InputReader(Array(input.dropFirst()))) }
}

private func readForm(_ bytes: [UInt8]) {
    let type = String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    let body = Array(bytes.drop { $0 != 10 }.dropFirst())
    do throws(MultipartError) {
        let range = try Multipart.file(in: body, type: type)
        guard let boundary = Multipart.parameter("boundary", of: type) else { fatalError("a form without a boundary") }
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // The empty line before a file without bytes may be the beginning of the delimiter, too.
        let end = [range.upperBound, range.isEmpty ? range.upperBound - 2 : range.upperBound]
        precondition(range.upperBound <= body.count && end.contains { body[$0...].starts(with: delimiter) })
        // A head, or an empty line, comes before.
        precondition(body[..<range.lowerBound].suffix(2) == [13, 10])
        precondition(occurrences(of: delimiter, in: body[range]) == 0, "a delimiter inside the file")
    } catch {
        precondition(fault(inLine: error.reason) == nil)
    }
}

private func occurrences(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int {
    bytes.indices.count { bytes[$0...].starts(with: pattern) }
}

/// Numbers say which parts there are and what they are called; the file is the rest of the input.
private func writeForm(_ input: InputReader) {
    var input = input
    let boundaryLength = 1 + input.below(70)
    let boundary = String(repeating: "-", count: boundaryLength - 1) + "x"
    let name = quotable(input.bytes(input.below(20)))
    let value = input.bytes(input.below(40))
    let hasFieldBefore = input.byte() % 2 == 0
    let file = Array(input.rest)
    let delimiter = Array("\r\n--\(boundary)".utf8)
    guard occurrences(of: delimiter, in: ([13, 10] + file)[...]) == 0,
        occurrences(of: delimiter, in: ([13, 10] + value)[...]) == 0,
        // The end of the file and the delimiter behind it may make one that begins earlier.
        occurrences(of: delimiter, in: (file + delimiter)[...]) == 1
    else { return }
    var body: [UInt8] = []
    if hasFieldBefore {
        body +=
            Array(delimiter.dropFirst(2)) + "\r\nContent-Disposition: form-data; name=\"output\"\r\n\r\n".utf8 + value
        body += delimiter
    } else {
        body += delimiter.dropFirst(2)
    }
    body += "\r\nContent-Type: image/png\r\nContent-Disposition: form-data; name=\"\(escaped(name))\"; ".utf8
    body += "filename=\"\(escaped(name))\"\r\n\r\n".utf8
    let start = body.count
    body += file + delimiter + "--\r\n".utf8
    do throws(MultipartError) {
        let range = try Multipart.file(in: body, type: "multipart/form-data; boundary=\"\(boundary)\"")
        precondition(range == start..<start + file.count, "another file than was written: \(range)")
    } catch {
        fatalError("\(error.reason): \(name)")
    }
    let field = "form-data; name=\"\(escaped(name))\"; filename=a"
    precondition(Multipart.parameter("name", of: field) == name, "the name \(name) is read as another")
    precondition(Multipart.parameter("filename", of: field) == "a", "the field behind the name \(name) is lost")
}

/// Text without control characters.
private func quotable(_ bytes: [UInt8]) -> String {
    String(
        String.UnicodeScalarView(
            String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { $0.value >= 32 && $0 != "\u{7f}" }))
}

private func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        if scalar == "\"" || scalar == "\\" { result.append("\\") }
        result.append(scalar)
    }
    return String(result)
}

let seeds: [[UInt8]] = [
    [0]
        + "multipart/form-data; boundary=x\n--x\r\nContent-Disposition: form-data; name=image\r\n\r\nabc\r\n--x--\r\n"
        .utf8,
    [0] + "multipart/form-data; charset=a; boundary=\"a b\"\npreamble\r\n--a b \r\n\r\nno head\r\n--a b\r\n".utf8
        + "content-disposition: form-data; name=\"f\"; filename*=UTF-8''a%20b\r\n\r\n\r\n--a b--".utf8,
    [1, 9, 5] + "image".utf8 + [3] + "abc".utf8 + [0] + "file\r\n--".utf8,
    [1, 0, 4, 0xc3, 0xa9, 0x22, 0x5c, 0, 1] + "file".utf8,
]
