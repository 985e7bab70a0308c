import WebProtocol
import PreviewServer
import TestSupport
import Testing

@Suite("Forms")
struct MultipartTests {
    private let type = "multipart/form-data; boundary=XX"

    private func file(_ body: String, type: String? = nil) throws -> String {
        let bytes = Array(body.utf8)
        return String(decoding: bytes[try Multipart.file(in: bytes, type: type ?? self.type)], as: UTF8.self)
    }

    @Test("The first part with a file name is the file")
    func file() throws {
        #expect(
            try file(
                "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--XX\r\n"
                    + "Content-Disposition: form-data; name=\"f\"; filename=\"x.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n"
                    + "by\r\ntes--XX\r\n--XX--\r\n") == "by\r\ntes--XX")
        #expect(
            try file("--XX\r\ncontent-disposition: form-data; filename*=UTF-8''x\r\n\r\n\r\n--XX--") == "")
        // The empty line behind the head is also the one before the delimiter.
        #expect(
            try file("--XX\r\ncontent-disposition: form-data; filename=x\r\n\r\n--XX\r\n\r\n\r\n--XX--") == "")
    }

    @Test("Without one it is the part called image; a preamble is passed over, the boundary may be quoted")
    func named() throws {
        #expect(
            try file(
                "preamble\r\n--X X\r\nContent-Disposition: form-data; name=image\r\n\r\nbytes\r\n--X X--",
                type: "multipart/form-data; charset=x; boundary=\"X X\"") == "bytes")
    }

    @Test(
        "A name may hold whatever browsers send: other ends of lines, accents behind a quotation mark",
        arguments: ["a\u{2028}b", "\u{301}a", "a\u{85}; filename=", "\u{c}", "a\\\"; b", "\u{1f1e9}\u{1f1ea}"])
    func names(name: String) throws {
        let head = "Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(name)\"\r\n"
        let other = "Content-Disposition: form-data; name=\"x\u{2028}content-disposition: form-data; name=image\"\r\n"
        #expect(
            try file("--XX\r\n\(other)\r\n1\r\n--XX\r\n\(head)\r\nbytes\r\n--XX--") == "bytes")
    }

    @Test(
        "Anything else is refused in one line",
        arguments: [
            "", "--XX", "--XX--", "--XX\r\n", "--XX\r\n\r\n", "--XX\r\n\r\nx\r\n--XX--", "XX\r\n\r\nx\r\n--XX--",
            "--XX\r\nContent-Disposition: form-data; filename=x\r\n\r\nno end",
            "--XX\r\nContent-Disposition: form-data; filename=x\r\n",
        ])
    func refusals(body: String) {
        let error = #expect(throws: MultipartError.self) { try file(body) }
        #expect(error?.reason.contains("\n") == false)
    }

    @Test("A form without a boundary, or with an absurd one, is refused")
    func boundary() {
        for type in [
            "multipart/form-data", "multipart/form-data; boundary=",
            "multipart/form-data; boundary=" + String(repeating: "x", count: 71),
        ] {
            #expect(throws: MultipartError.self) { try file("--XX--", type: type) }
        }
    }

    @Test("Bytes of any kind end in a file or in a refusal", .childProcess)
    func noise() {
        var generator = SeededGenerator(seed: 7)
        let words = [
            "--XX", "\r\n", "\r\n\r\n", "--", "Content-Disposition: form-data; filename=x", ";", "\"", "x", "\\",
            "boundary=",
        ]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0..<12, using: &generator)).map { _ in
                words.randomElement(using: &generator)!
            }
            let bytes = Array(text.joined().utf8)
            if let range = try? Multipart.file(in: bytes, type: type) {
                #expect(range.lowerBound >= 0 && range.upperBound <= bytes.count)
            }
            _ = try? Multipart.file(in: bytes, type: "multipart/form-data; " + text.joined())
        }
    }
}
