/// A JSON document to be printed, its keys in the order in which they were written down.
package indirect enum JSONValue {
    case null
    case integer(Int)
    /// Printed with four decimal places; not finite numbers as null.
    case number(Double)
    /// Printed so that the same number is read back; not finite numbers as null.
    case exact(Double)
    case boolean(Bool)
    case text(String)
    case list([JSONValue])
    case object(KeyValuePairs<String, JSONValue>)

    /// The document on one line.
    package var json: String {
        switch self {
        case .null: "null"
        case .integer(let value): String(value)
        case .number(let value): value.isFinite ? decimal(value, places: 4) : "null"
        case .exact(let value): value.isFinite ? "\(value)" : "null"
        case .boolean(let value): value ? "true" : "false"
        case .text(let text): quoted(text)
        case .list(let values): "[" + values.map(\.json).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(quoted($0.key)): \($0.value.json)" }.joined(separator: ", ") + "}"
        }
    }

    private func quoted(_ text: String) -> String {
        var line = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": line += "\\\""
            case "\\": line += "\\\\"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                line += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line + "\""
    }
}
