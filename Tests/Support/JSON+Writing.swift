import JSONText

// Documents are written as literals, changed by path, and turned into text.

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(uniqueKeysWithValues: elements))
    }
}

extension JSON {
    /// A list of whole numbers.
    package init(_ integers: [Int]) { self = .array(integers.map { .number(Double($0)) }) }

    /// A list of strings.
    package init(_ strings: [String]) { self = .array(strings.map { .string($0) }) }

    /// The value of a key; nil removes it. Only for objects.
    package subscript(key: String) -> JSON? {
        get {
            guard case .object(let members) = self else { preconditionFailure("\(key): not an object") }
            return members[key]
        }
        set {
            guard case .object(var members) = self else { preconditionFailure("\(key): not an object") }
            members[key] = newValue
            self = .object(members)
        }
    }

    /// An element of a list.
    package subscript(index: Int) -> JSON {
        get {
            guard case .array(let elements) = self else { preconditionFailure("\(index): not a list") }
            return elements[index]
        }
        set {
            guard case .array(var elements) = self else { preconditionFailure("\(index): not a list") }
            elements[index] = newValue
            self = .array(elements)
        }
    }

    /// The text of the value; keys in alphabetical order, so that the same value gives the same text.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): Int(exactly: value).map { "\($0)" } ?? "\(value)"
        case .string(let value): Self.quoted(value)
        case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\(Self.quoted($0.key)):\($0.value.text)" }.joined(separator: ","))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
