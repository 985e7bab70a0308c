import JSONText
import ModelGraph
import TestSupport
import Testing

@Suite("JSON of model files") struct JSONTests {
    private func parse(_ text: String) throws(JSONError) -> JSON { try parse(Array(text.utf8)) }

    private func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONError) -> JSON in try JSON(parsing: bytes) }
        }
        return try result.get()
    }

    @Test("Values of every kind are read") func values() throws {
        #expect(
            try parse(" {\"a\" : [1, -2.5e1, true, false, null, \"x\"], \"b\":{}}\n") == [
                "a": [1, -25, true, false, nil, "x"], "b": [:],
            ])
        #expect(try parse(#""\u00e4\ud83d\ude00\n\/\"""#) == "ä😀\n/\"")
        #expect(try parse("[0.1, 1e-400, -0, 9007199254740992]") == [0.1, 0, 0, 9_007_199_254_740_992])
    }

    @Test("What is written is read back") func roundTrip() throws {
        let value: JSON = ["name": "a\"b\\c\u{1}\u{e4}", "list": [1.5, 3, nil, [true, ["deep": -1e300]]]]
        #expect(try parse(value.text) == value)
    }

    @Test(
        "What is not JSON is refused, with the place",
        arguments: [
            ("", 0, "ends where a value is due"),
            ("[1,", 3, "ends where a value is due"),
            ("[1 2]", 3, "expected ',' or ']'"),
            ("[1,]", 3, "not a JSON value"),
            ("{\"a\":1,}", 7, "expected a key in quotes"),
            ("{\"a\" 1}", 5, "expected ':' after a key"),
            ("{\"a\":1]", 6, "expected ',' or '}'"),
            ("{\"a\":1,\"b\":2,\"a\":3}", 13, "the key \"a\" stands twice in one object"),
            ("{} {}", 3, "something follows the end of the JSON value"),
            ("tru", 0, "not a JSON value"),
            ("NaN", 0, "not a JSON value"),
            ("01", 1, "something follows the end of the JSON value"),
            ("-", 1, "not a JSON value"),
            ("1.", 2, "not a JSON value"),
            ("1e", 2, "not a JSON value"),
            ("1e999", 0, "the number 1e999 is out of range"),
            ("\"abc", 4, "ends inside a string"),
            ("\"a\nb\"", 2, "a control character inside a string"),
            ("\"\\x\"", 3, "an unknown escape inside a string"),
            ("\"\\u12g4\"", 5, "an unknown escape inside a string"),
            ("\"\\u12", 3, "ends inside a string"),
            ("\"\\ud800\"", 7, "half a surrogate pair"),
            ("\"\\ud800\\u0041\"", 13, "half a surrogate pair"),
            ("\"\\ud800\\ue000\"", 13, "half a surrogate pair"),
            ("\"\\udc00\"", 7, "half a surrogate pair"),
        ])
    func refusals(text: String, offset: Int, reason: String) {
        #expect { try parse(text) } throws: { error in
            guard let error = error as? JSONError else { return false }
            return error.offset == offset && error.reason == reason
        }
    }

    @Test("Bytes that are not UTF-8 are refused") func encoding() {
        #expect(throws: JSONError.self) { try parse([0x22, 0xc3, 0x22]) }
        #expect(throws: JSONError.self) { try parse([0x22, 0xed, 0xa0, 0x80, 0x22]) }  // a surrogate
        #expect(throws: JSONError.self) { try parse([0xff, 0xfe]) }
    }

    @Test("Depth, length of numbers and number of values are bounded", .childProcess) func bounds() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try parse(nested(32))
        #expect(throws: JSONError.self) { try parse(nested(33)) }
        #expect(throws: JSONError.self) { try parse(String(repeating: "[", count: 5_000_000)) }
        #expect(throws: JSONError.self) { try parse(String(repeating: "{\"a\":", count: 1_000_000)) }
        _ = try parse(String(repeating: "1", count: 128))
        #expect(throws: JSONError.self) { try parse(String(repeating: "1", count: 129)) }
        #expect(throws: JSONError.self) { try parse("[" + String(repeating: "0,", count: 1 << 19) + "0]") }
    }
}
