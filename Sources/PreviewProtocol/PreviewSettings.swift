import JSONText

/// What a page wants to be sent, as it says in JSON.
///
///     {"model": "deeplabv3_257_mv_gpu", "device": "cpu", "outputs": ["categories", "alpha"],
///      "classes": [15], "overlay": {"opacity": 0.5, "encoding": "jpeg", "colors": {"15": "#ff8000"}}, "maximumFramesPerSecond": 30}
///
/// Each message is a patch: what it leaves out stays as it is.
package struct PreviewSettings: Equatable, Sendable {
    /// What is sent for each frame.
    package enum Output: String, CaseIterable, Sendable {
        /// Class indices.
        case categories
        /// How much of each pixel the chosen classes are.
        case alpha
        /// The frame under the colours of its classes.
        case overlay
        /// What the edge of the chosen classes is drawn from. From version 2 on.
        case matte
    }

    /// How overlays are made.
    package struct Overlay: Equatable, Sendable {
        /// 0 shows the picture, 1 the colours.
        package var opacity = 0.5
        /// Colours other than the model's, by class: 0xrrggbb.
        package var colors: [Int: UInt32] = [:]
        /// JPEG or WebP.
        package var encoding = PayloadEncoding.jpeg
    }

    /// Which of the server's models is used. Nil: its first.
    package var model: String?
    /// Which of the server's devices is used. Nil: the one that it uses unless asked.
    package var device: String?
    /// What is sent.
    package var outputs: Set<Output> = [.categories]
    /// The classes whose alpha is sent and that overlays colour. Nil: all but the background.
    package var classes: [Int]?
    /// How overlays are made.
    package var overlay = Overlay()
    /// Frames a second beyond which frames are dropped. Nil: the server's limit.
    package var maximumFramesPerSecond: Double?
    /// How much of a matte comes from the frames before. From version 2 on.
    package var smoothing = 0.6
    /// Whether a matte's small holes are closed and specks dropped. From version 2 on.
    package var closesHoles = true
    /// The version of the protocol whose settings they are.
    package let version: UInt8

    /// What `smoothing` may be.
    package static let smoothingRange = 0...0.9

    /// Settings with their defaults.
    package init(version: UInt8 = 1) { self.version = version }

    /// Bytes that a settings message may have.
    package static let byteLimit = 1 << 16

    /// These settings with what a message changes.
    ///
    /// Whether the model and the classes exist is for those to say who know the models.
    ///
    /// - Throws: `badSettings`, with the key at fault.
    package func patched(with bytes: [UInt8]) throws(ProtocolError) -> PreviewSettings {
        guard bytes.count <= Self.byteLimit else {
            throw .settings("\(bytes.count) bytes are more than the \(Self.byteLimit) that settings may have")
        }
        let parsed = bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try JSON(parsing: bytes) }
        }
        let document: JSON
        do throws(JSONError) {
            document = try parsed.get()
        } catch {
            throw .settings("no JSON at byte \(error.offset): \(error.reason)")
        }
        guard case .object(let members) = document else { throw .settings("they are \(document.kind), not an object") }
        var patched = self
        // Classes and their colours are of a model: with another one they are again those that it has at first.
        if let value = members["model"] {
            let model = try string(value, "model")
            if model != self.model {
                patched.classes = nil
                patched.overlay.colors = [:]
            }
            patched.model = model
        }
        for (key, value) in members.sorted(by: { $0.key < $1.key }) where key != "model" {
            switch key {
            case "device": patched.device = try string(value, key)
            case "outputs": patched.outputs = try outputs(value)
            case "classes": patched.classes = try Self.classes(value)
            case "overlay": patched.overlay = try Self.overlay(value, patching: patched.overlay)
            case "maximumFramesPerSecond":
                let rate = try number(value, key)
                guard rate >= 0.1, rate <= 1000 else { throw .settings("\(key) is \(rate), not 0.1 to 1000") }
                patched.maximumFramesPerSecond = rate
            case "smoothing" where version >= 2:
                let smoothing = try number(value, key)
                guard Self.smoothingRange.contains(smoothing) else {
                    throw .settings("\(key) is \(smoothing), not 0 to 0.9")
                }
                patched.smoothing = smoothing
            case "closesHoles" where version >= 2:
                guard case .bool(let closesHoles) = value else {
                    throw .settings("\(key) is \(value.kind), not true or false")
                }
                patched.closesHoles = closesHoles
            default: throw .settings("there is no key \(printable(key))")
            }
        }
        return patched
    }

    private func outputs(_ value: JSON) throws(ProtocolError) -> Set<Output> {
        guard case .array(let elements) = value else { throw .settings("outputs is \(value.kind), not a list") }
        var outputs: Set<Output> = []
        for element in elements {
            guard case .string(let word) = element, let output = Output(rawValue: word),
                output != .matte || version >= 2
            else {
                throw .settings(
                    version >= 2
                        ? "outputs may hold categories, alpha, overlay and matte"
                        : "outputs may hold categories, alpha and overlay")
            }
            outputs.insert(output)
        }
        guard !outputs.isEmpty else { throw .settings("outputs is empty") }
        return outputs
    }

    private static func classes(_ value: JSON) throws(ProtocolError) -> [Int] {
        guard case .array(let elements) = value else { throw .settings("classes is \(value.kind), not a list") }
        var classes: Set<Int> = []
        for element in elements {
            guard let index = element.integer, index >= 0 else { throw .settings("classes may hold class indices") }
            classes.insert(index)
        }
        return classes.sorted()
    }

    private static func overlay(_ value: JSON, patching old: Overlay) throws(ProtocolError) -> Overlay {
        guard case .object(let members) = value else { throw .settings("overlay is \(value.kind), not an object") }
        var overlay = old
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            switch key {
            case "opacity":
                let opacity = try number(value, key)
                guard opacity >= 0, opacity <= 1 else { throw .settings("opacity is \(opacity), not 0 to 1") }
                overlay.opacity = opacity
            case "encoding":
                switch try string(value, key) {
                case "jpeg": overlay.encoding = .jpeg
                case "webp": overlay.encoding = .webp
                default: throw .settings("overlay's encoding is jpeg or webp")
                }
            case "colors":
                guard case .object(let colors) = value else {
                    throw .settings("colors is \(value.kind), not an object")
                }
                overlay.colors = [:]
                for (index, color) in colors {
                    guard let number = Int(index), number >= 0, String(number) == index, case .string(let text) = color,
                        text.utf8.count == 7, text.first == "#", text.dropFirst().allSatisfy(\.isHexDigit),
                        let value = UInt32(text.dropFirst(), radix: 16)
                    else { throw .settings("colors holds class indices with colours like \"#ff8000\"") }
                    overlay.colors[number] = value
                }
            default: throw .settings("overlay has no key \(printable(key))")
            }
        }
        return overlay
    }

    /// The settings as they are echoed, every key written out; `device` only where there is a choice.
    package var json: String {
        let colors = overlay.colors.sorted { $0.key < $1.key }.map { index, color in
            let digits = String(color, radix: 16)
            return (String(index), JSONValue.text("#" + String(repeating: "0", count: 6 - digits.count) + digits))
        }
        var members: [(String, JSONValue)] = [("model", model.map { .text($0) } ?? .null)]
        if let device { members.append(("device", .text(device))) }
        members += [
            ("outputs", .list(Output.allCases.filter(outputs.contains).map { .text($0.rawValue) })),
            ("classes", classes.map { .list($0.map { .integer($0) }) } ?? .null),
            (
                "overlay",
                .object([
                    "opacity": .exact(overlay.opacity), "encoding": .text("\(overlay.encoding)"),
                    "colors": .members(colors),
                ])
            ),
            ("maximumFramesPerSecond", maximumFramesPerSecond.map { .exact($0) } ?? .null),
        ]
        if version >= 2 {
            members += [("smoothing", .exact(smoothing)), ("closesHoles", .boolean(closesHoles))]
        }
        return JSONValue.members(members).json
    }
}

private func string(_ value: JSON, _ key: String) throws(ProtocolError) -> String {
    guard case .string(let text) = value else { throw .settings("\(key) is \(value.kind), not a string") }
    return text
}

private func number(_ value: JSON, _ key: String) throws(ProtocolError) -> Double {
    guard case .number(let number) = value else { throw .settings("\(key) is \(value.kind), not a number") }
    return number
}

extension ProtocolError {
    /// Settings that are not in force.
    package static func settings(_ message: String) -> ProtocolError {
        ProtocolError(.badSettings, "settings: \(message)")
    }
}
