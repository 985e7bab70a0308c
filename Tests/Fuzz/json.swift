// modules: JSONText
//
// Fuzzes the reader of JSON.
//
// What is read and written anew must be read as itself. What is refused is refused at a byte of it, and blanks around a
// document change nothing.

func fuzz(_ input: [UInt8]) {
    switch read(input) {
    case .success(let document):
        let text = Array(written(document).json.utf8)
        guard case .success(let again) = read(text), again == document else {
            fatalError("not read as it was written: \(String(decoding: text, as: UTF8.self))")
        }
        precondition((try? read([32, 10] + input + [9, 13]).get()) == document, "blanks change the document")
        guard case .failure(let error) = read(input + [UInt8(ascii: ",")]) else {
            fatalError("a comma at the end is taken")
        }
        precondition(error.offset <= input.count + 1)
    case .failure(let error):
        precondition((0...input.count).contains(error.offset) && fault(inLine: error.reason) == nil)
    }
}

private func read(_ bytes: [UInt8]) -> Result<JSON, JSONError> {
    bytes.withUnsafeBytes { bytes in Result { () throws(JSONError) in try JSON(parsing: bytes) } }
}

private func written(_ document: JSON) -> JSONValue {
    if let integer = document.integer, !(integer == 0) { return .integer(integer) }
    return switch document {
    case .null: .null
    case .bool(let value): .boolean(value)
    case .number(let value): .exact(value)
    case .string(let text): .text(text)
    case .array(let values): .list(values.map(written))
    case .object(let members): .members(members.map { ($0, written($1)) })
    }
}

private let documents: [String] = [
    #"{"a":[1,-0,2.5e-3,1E+300,true,false,null],"b":{"":{}},"\u00e9\ud83d\ude00":"\"\\\/\b\f\n\r\t\u0000"}"#,
    "[[[[[[[[]]]]]]]]", "\"\u{e9}\u{2028}\u{10ffff}\"", " 0.1 ", "{\"a\":1,\"a\":2}", "{\"\u{e9}\":1,\"e\u{301}\":2}",
    String(repeating: "[", count: 33) + String(repeating: "]", count: 33),
]
let seeds: [[UInt8]] = documents.map { Array($0.utf8) }
