import Base
import Silhouette

/// One option of a command: what the parser accepts and what the help page says, in one place, so that they agree.
package struct Option<Settings>: Sendable {
    /// The long form without its dashes: `output-file`.
    package let name: String
    /// The short form without its dash, where there is one.
    package let short: Character?
    /// What stands for the value on the help page: `FILE`, `auto|cpu`. Nil for a flag, which takes no value.
    package let placeholder: String?
    /// What it does, and its default. Line breaks fall where the page is set.
    package let help: String
    /// Stores the value, or says what is wrong with it as the rest of a sentence that begins with the flag.
    let store: @Sendable (inout Settings, String) throws(UsageError) -> Void

    /// As it is typed: `-o, --output-file FILE`.
    var signature: String {
        let shortForm = short.map { "-\($0), " } ?? "    "
        return shortForm + "--" + name + (placeholder.map { " " + $0 } ?? "")
    }
}

extension Option {
    /// An option without a value.
    package static func flag(
        _ name: String, _ short: Character? = nil, _ help: String,
        _ member: WritableKeyPath<Settings, Bool> & Sendable
    ) -> Option {
        Option(name: name, short: short, placeholder: nil, help: help) { settings, _ in
            settings[keyPath: member] = true
        }
    }

    /// An option whose value is turned into something by `store`.
    package static func value(
        _ name: String, _ short: Character? = nil, _ placeholder: String, _ help: String,
        _ store: @escaping @Sendable (inout Settings, String) throws(UsageError) -> Void
    ) -> Option {
        Option(name: name, short: short, placeholder: placeholder, help: help, store: store)
    }

    /// An option whose value is text: a path or a name.
    package static func text(
        _ name: String, _ short: Character? = nil, _ placeholder: String, _ help: String,
        _ member: WritableKeyPath<Settings, String?> & Sendable
    ) -> Option {
        Option(name: name, short: short, placeholder: placeholder, help: help) { settings, value throws(UsageError) in
            guard !value.isEmpty else { throw UsageError("needs a \(placeholder), not an empty text") }
            settings[keyPath: member] = value
        }
    }

    /// An option whose value is a whole number in a range.
    package static func integer(
        _ name: String, in range: ClosedRange<Int>, _ help: String, _ member: WritableKeyPath<Settings, Int> & Sendable
    ) -> Option {
        integer(name, in: range, help) { $0[keyPath: member] = $1 }
    }

    /// An option whose value is a whole number in a range, and which has no fixed default.
    package static func integer(
        _ name: String, in range: ClosedRange<Int>, _ help: String,
        _ member: WritableKeyPath<Settings, Int?> & Sendable
    ) -> Option {
        integer(name, in: range, help) { $0[keyPath: member] = $1 }
    }

    /// An option whose value is a whole number in a range, which `assign` stores.
    package static func integer(
        _ name: String, _ placeholder: String = "N", in range: ClosedRange<Int>, _ help: String,
        _ assign: @escaping @Sendable (inout Settings, Int) -> Void
    ) -> Option {
        Option(name: name, short: nil, placeholder: placeholder, help: help) { settings, value throws(UsageError) in
            assign(&settings, try reading { () throws(WordError) in try Int(word: value, in: range) })
        }
    }

    /// An option whose value is one of a few words. The default is read from `defaults`.
    package static func choice<Choice: RawRepresentable<String> & CaseIterable & Equatable & Sendable>(
        _ name: String, _ short: Character? = nil, _ help: String,
        _ member: WritableKeyPath<Settings, Choice> & Sendable, default standard: Choice,
        refusing refusals: [String: String] = [:]
    ) -> Option {
        let words = Choice.allCases.map(\.rawValue)
        return Option(
            name: name, short: short, placeholder: words.joined(separator: "|"),
            help: help + (help.contains("\n") ? "\n" : " ") + "(default: \(standard.rawValue))"
        ) { settings, value throws(UsageError) in
            guard let choice = Choice(rawValue: value) else {
                if let refusal = refusals[value] { throw UsageError(refusal) }
                let hint = nearest(to: value, among: words).map { "; did you mean \($0)?" } ?? ""
                throw UsageError("is \(words.listed(with: "or")), not '\(value)'\(hint)")
            }
            settings[keyPath: member] = choice
        }
    }

    /// An option whose value is one of a few words, and which has no fixed default; `help` says what holds without it.
    package static func word<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ help: String, _ member: WritableKeyPath<Settings, Choice?> & Sendable
    ) -> Option {
        let words = Choice.allCases.map(\.rawValue)
        return Option(name: name, short: nil, placeholder: words.joined(separator: "|"), help: help) {
            settings, value throws(UsageError) in
            guard let choice = Choice(rawValue: value) else {
                let hint = nearest(to: value, among: words).map { "; did you mean \($0)?" } ?? ""
                throw UsageError("is \(words.listed(with: "or")), not '\(value)'\(hint)")
            }
            settings[keyPath: member] = choice
        }
    }

    /// The same option of settings that these are a part of.
    func lifted<Whole>(to part: WritableKeyPath<Whole, Settings> & Sendable) -> Option<Whole> {
        Option<Whole>(name: name, short: short, placeholder: placeholder, help: help) {
            whole, value throws(UsageError) in try store(&whole[keyPath: part], value)
        }
    }

    /// An option whose value is a number in a range, and which has no fixed default.
    package static func number(
        _ name: String, _ placeholder: String, in range: ClosedRange<Float>, _ help: String,
        _ member: WritableKeyPath<Settings, Float?> & Sendable
    ) -> Option {
        Option(name: name, short: nil, placeholder: placeholder, help: help) { settings, value throws(UsageError) in
            settings[keyPath: member] = try reading { () throws(WordError) in try Float(word: value, in: range) }
        }
    }
}
