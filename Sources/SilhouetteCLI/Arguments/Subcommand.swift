import Base

/// A subcommand's command line: its help page and its parser are made from the same values.
package struct Subcommand<Settings>: Sendable {
    /// As it is typed: `segment`.
    package let name: String
    /// What it does, in one line of the overview.
    package let abstract: String
    /// Its operands as the usage line shows them: `PHOTO...`.
    package let operands: String
    /// What one wants to know before the options.
    package let introduction: String
    /// What one wants to know after the options: rules, examples.
    package let details: String
    /// Every option but `--help`, in the order of the page.
    package let options: [Option<Settings>]
    /// Takes an operand.
    let addOperand: @Sendable (inout Settings, String) throws(UsageError) -> Void
    /// Checks what no option can check on its own.
    let check: @Sendable (Settings) throws(UsageError) -> Void
}

/// What a command line asks of a command.
package enum Request<Settings> {
    /// To show its help page.
    case help
    /// To run.
    case run(Settings)
}

extension Request: Sendable where Settings: Sendable {}

extension Subcommand {
    /// Reads a command line.
    ///
    /// An option's value follows it or is joined by `=` (long form) or directly (short form); the last of equal options
    /// counts; `--` ends the options; `-` alone is an operand.
    ///
    /// - Parameters:
    ///   - arguments: What follows the command's name.
    ///   - settings: The defaults.
    ///   - repaired: Arguments that were not UTF-8. As an option's value one would be another name than the one that was meant;
    ///     an input of such a name is not found when its turn comes, and does not stop the others.
    package func parse(
        _ arguments: [String], into settings: Settings, repaired: Set<String> = []
    ) throws(UsageError) -> Request<Settings> {
        var settings = settings
        var rest = arguments[...]
        var optionsEnded = false
        var operands: [String] = []
        while let argument = rest.popFirst() {
            guard !optionsEnded, argument.hasPrefix("-"), argument != "-" else {
                operands.append(argument)
                continue
            }
            if argument == "--" {
                optionsEnded = true
                continue
            }
            if argument == "-h" || argument == "--help" { return .help }
            let (option, written, joined) = try find(argument)
            let value: String
            if let placeholder = option.placeholder {
                if let joined { value = joined } else { value = try followingValue(of: written, placeholder, &rest) }
            } else {
                if let joined { throw UsageError("\(written) takes no value, but has '\(joined)'") }
                value = ""
            }
            if repaired.contains(argument) || repaired.contains(value) {
                throw UsageError("\(written) '\(value)' is not UTF-8; names have to be: choose another one")
            }
            do {
                try option.store(&settings, value)
            } catch {
                throw UsageError("\(written) \(error)")
            }
        }
        for operand in operands { try addOperand(&settings, operand) }
        try check(settings)
        return .run(settings)
    }

    /// The option that an argument names, how it is written, and the value joined to it.
    private func find(_ argument: String) throws(UsageError) -> (Option<Settings>, String, joined: String?) {
        if argument.hasPrefix("--") {
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = options.first(where: { $0.name == name }) else {
                if name == "help" { throw UsageError("--help takes no value") }
                let known = options.map(\.name) + ["help"]
                let hint = nearest(to: name, among: known).map { "; did you mean --\($0)?" } ?? ""
                throw UsageError("unknown option --\(name)\(hint)")
            }
            return (option, "--" + name, parts.count == 2 ? String(parts[1]) : nil)
        }
        // `-output` is a long option that has lost a dash, and not the short one with the value `utput`.
        let letters = String(argument.dropFirst().prefix { $0 != "=" })
        if letters.count > 1, options.contains(where: { $0.name == letters }) {
            throw UsageError("unknown option -\(letters); did you mean --\(letters)?")
        }
        let letter = argument[argument.index(after: argument.startIndex)]
        guard let option = options.first(where: { $0.short == letter }) else {
            let hint = nearest(to: letters, among: options.map(\.name)).map { "; did you mean --\($0)?" } ?? ""
            throw UsageError("unknown option -\(letters)\(hint)")
        }
        let joined = String(argument.dropFirst(2))
        if option.placeholder == nil, !joined.isEmpty {
            throw UsageError("unknown option \(argument); short options are written one by one")
        }
        return (option, "-" + String(letter), joined.isEmpty ? nil : joined)
    }

    private func followingValue(
        of written: String, _ placeholder: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        // A word that looks like an option is one: `-o --output mask` has lost its file name. A negative number does not.
        guard let next = rest.first, next == "-" || !next.hasPrefix("-") || Double(next) != nil else {
            throw UsageError("\(written) needs a value: \(placeholder)")
        }
        rest.removeFirst()
        return next
    }
}
