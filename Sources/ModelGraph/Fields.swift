import JSONText

/// The values of one JSON object of a model file, read by key; every refusal names the object and the key.
struct Fields {
    /// What the object is, as a message begins: `layer "Conv"`.
    let owner: String
    private let values: [String: JSON]

    init(_ value: JSON, _ owner: String) throws(ModelFault) {
        guard case .object(let values) = value else {
            throw ModelFault("\(owner): is \(value.kind), expected an object")
        }
        self.values = values
        self.owner = owner
    }

    func fault(_ reason: String) -> ModelFault { ModelFault("\(owner): \(reason)") }

    /// Refuses keys that mean nothing here: a misspelt one would silently leave a default in force.
    func allow(only keys: Set<String>) throws(ModelFault) {
        if let key = values.keys.filter({ !keys.contains($0) }).min() {
            throw fault("has an unknown key \(printable(key))")
        }
    }

    func has(_ key: String) -> Bool { values[key] != nil }

    /// The value of a key that must be there.
    func value(_ key: String) throws(ModelFault) -> JSON {
        guard let value = values[key] else { throw fault("has no \(key)") }
        return value
    }

    /// A name or another short text of one printable line.
    func string(_ key: String) throws(ModelFault) -> String { try text(try value(key), key) }

    /// As `string(_:)`, nil where the key is absent.
    func stringIfPresent(_ key: String) throws(ModelFault) -> String? { has(key) ? try string(key) : nil }

    func strings(_ key: String) throws(ModelFault) -> [String] {
        var strings: [String] = []
        for value in try list(key) { strings.append(try text(value, key)) }
        return strings
    }

    func list(_ key: String) throws(ModelFault) -> [JSON] {
        let value = try value(key)
        guard case .array(let elements) = value else { throw fault("\(key): is \(value.kind), expected a list") }
        return elements
    }

    /// A whole number; `absent` where the key is.
    func integer(_ key: String, absent: Int? = nil) throws(ModelFault) -> Int {
        if let absent, !has(key) { return absent }
        guard let integer = try value(key).integer else { throw fault("\(key): expected a whole number") }
        return integer
    }

    /// A list of whole numbers, of the length of `absent` where that is given.
    func integers(_ key: String, absent: [Int]? = nil) throws(ModelFault) -> [Int] {
        if let absent, !has(key) { return absent }
        let elements = try list(key)
        let integers = elements.compactMap(\.integer)
        guard integers.count == elements.count, absent == nil || integers.count == absent?.count else {
            throw fault("\(key): expected \(absent.map { "\($0.count) " } ?? "")whole numbers")
        }
        return integers
    }

    /// A list of `count` numbers that float32 holds.
    func floats(_ key: String, count: Int) throws(ModelFault) -> [Float] {
        var floats: [Float] = []
        for case .number(let value) in try list(key) where Float(value).isFinite { floats.append(Float(value)) }
        guard try list(key).count == count, floats.count == count else {
            throw fault("\(key): expected \(count) numbers, one for each channel")
        }
        return floats
    }

    /// A truth value, false where the key is absent.
    func flag(_ key: String) throws(ModelFault) -> Bool {
        guard has(key) else { return false }
        guard case .bool(let flag) = try value(key) else { throw fault("\(key): expected true or false") }
        return flag
    }

    /// One of the names of an enumeration.
    func choice<Choice: RawRepresentable & CaseIterable>(_ key: String, absent: Choice? = nil) throws(ModelFault)
        -> Choice
    where Choice.RawValue == String {
        if let absent, !has(key) { return absent }
        let name = try string(key)
        guard let choice = Choice(rawValue: name) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw fault("\(key): \(printable(name)) is unknown, expected one of \(known)")
        }
        return choice
    }

    private func text(_ value: JSON, _ key: String) throws(ModelFault) -> String {
        guard case .string(let text) = value else { throw fault("\(key): is \(value.kind), expected a string") }
        guard !text.isEmpty, text.utf8.count <= ModelLimits.nameByteCount, text.unicodeScalars.allSatisfy(isPrintable)
        else {
            throw fault("\(key): \(printable(text)) is empty, too long or not printable")
        }
        return text
    }
}
