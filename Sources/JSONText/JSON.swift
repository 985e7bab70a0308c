// Foundation's JSONDecoder does not serve here: of two equal keys it silently takes one, so that a file could mean one
// network to this reader and another to the next; it bounds neither the number of values nor the length of numbers; it
// says where a text is wrong only in words for debugging; and its library would be the only use of Foundation in the
// program, for a quarter more start-up time (10 ms, not 8, of a program that does nothing else).

/// A JSON value, as model files hold them.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// The value's kind, for messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// The value where it is a whole number that a double holds exactly.
    package var integer: Int? {
        guard case .number(let value) = self, value.magnitude <= 0x1p53 else { return nil }
        return Int(exactly: value)
    }
}

/// Why a text is not JSON, or is more than a model file may hold.
package struct JSONError: Error {
    /// Position of the first byte that does not fit.
    package let offset: Int
    /// What is wrong there.
    package let reason: String
}

extension JSON {
    /// Reads one JSON text (RFC 8259) that fills all of `bytes`.
    ///
    /// It is stricter than most: duplicate keys, numbers past the range of a double and lone surrogates are refused.
    /// Depth and number of values are bounded, so that a hostile text can exhaust neither the stack nor the memory.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var parser = JSONParser(bytes: bytes)
        self = try parser.document()
    }
}

private struct JSONParser {
    /// A model file is five levels deep.
    static let depthLimit = 32
    /// Room for 4096 layers of some 100 values each.
    static let valueLimit = 1 << 19
    /// The shortest text of any double is far below this.
    static let numberByteLimit = 128

    let bytes: UnsafeRawBufferPointer
    var position = 0
    var valueCount = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw error("something follows the end of the JSON value") }
        return value
    }

    private func error(_ reason: String) -> JSONError { JSONError(offset: position, reason: reason) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        skipSpace()
        valueCount += 1
        guard depth < Self.depthLimit else { throw error("nested more than \(Self.depthLimit) deep") }
        guard valueCount <= Self.valueLimit else { throw error("more than \(Self.valueLimit) values") }
        switch next {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .array(try elements(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case nil: throw error("ends where a value is due")
        default: return .number(try number())
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let length = text.utf8CodeUnitCount
        guard bytes.count - position >= length,
            (0..<length).allSatisfy({ bytes[position + $0] == text.utf8Start[$0] })
        else { throw error("not a JSON value") }
        position += length
        return value
    }

    private mutating func members(depth: Int) throws(JSONError) -> [String: JSON] {
        var members: [String: JSON] = [:]
        position += 1
        skipSpace()
        if take("}") { return members }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("expected a key in quotes") }
            let start = position
            let key = try string()
            skipSpace()
            guard take(":") else { throw error("expected ':' after a key") }
            let value = try value(depth: depth + 1)
            guard members.updateValue(value, forKey: key) == nil else {
                throw JSONError(offset: start, reason: "the key \(printable(key)) stands twice in one object")
            }
            skipSpace()
            if take("}") { return members }
            guard take(",") else { throw error("expected ',' or '}'") }
        }
    }

    private mutating func elements(depth: Int) throws(JSONError) -> [JSON] {
        var elements: [JSON] = []
        position += 1
        skipSpace()
        if take("]") { return elements }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return elements }
            guard take(",") else { throw error("expected ',' or ']'") }
        }
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw error("not a JSON value") }
    }

    private mutating func number() throws(JSONError) -> Double {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        guard position - start <= Self.numberByteLimit else {
            throw JSONError(offset: start, reason: "a number of more than \(Self.numberByteLimit) characters")
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let value = Double(text), value.isFinite else {
            throw JSONError(offset: start, reason: "the number \(text) is out of range")
        }
        return value
    }

    private mutating func string() throws(JSONError) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while true {
            // Runs without escapes are taken whole: the document itself is one long string.
            let run = position
            while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                position += 1
            }
            text.append(contentsOf: bytes[run..<position])
            switch next {
            case UInt8(ascii: "\""):
                position += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw JSONError(offset: start, reason: "a string that is not UTF-8")
                }
                return string
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &text)
            case nil: throw error("ends inside a string")
            default: throw error("a control character inside a string")
            }
        }
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw error("ends inside a string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if (0xd800..<0xdc00).contains(code) {  // the first of a surrogate pair
                guard take("\\"), take("u") else { throw error("half a surrogate pair") }
                let low = try hexadecimal()
                guard (0xdc00..<0xe000).contains(low) else { throw error("half a surrogate pair") }
                code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw error("half a surrogate pair") }
            text.append(contentsOf: UTF8.encode(scalar) ?? .init())
        default: throw error("an unknown escape inside a string")
        }
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard bytes.count - position >= 4 else { throw error("ends inside a string") }
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw error("an unknown escape inside a string")
            }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }
}
