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
    /// An object whose keys are known only when the program runs.
    case members([(String, JSONValue)])

    /// The document on one line.
    package var json: String {
        switch self {
        case .null: "null"
        case .integer(let value): String(value)
        case .number(let value): fourPlaces(value)
        case .exact(let value): value.isFinite ? "\(value)" : "null"
        case .boolean(let value): value ? "true" : "false"
        case .text(let text): quoted(text)
        case .list(let values): "[" + values.map(\.json).joined(separator: ", ") + "]"
        case .object(let members): object(members.map { ($0.key, $0.value) })
        case .members(let members): object(members)
        }
    }

    private func object(_ members: [(String, JSONValue)]) -> String {
        "{" + members.map { "\(quoted($0)): \($1.json)" }.joined(separator: ", ") + "}"
    }

    private func fourPlaces(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        guard abs(value) < 1e14 else { return "\(value)" }
        let scaled = Int((abs(value) * 10_000).rounded())
        let digits = String(scaled % 10_000)
        return (value < 0 && scaled != 0 ? "-" : "") + "\(scaled / 10_000)."
            + String(repeating: "0", count: 4 - digits.count) + digits
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
