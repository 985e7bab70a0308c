import Base

/// Classes of a model, chosen by their names or by their positions in its labels.
///
///     options.classes = ["person", "dog"]
///     options.classes = [15, 12]
///     options.classes = .allBut(["chair"])
///
/// A name is found in any case. What no class is called may be a position in decimal digits, as on the command line: `"15"`. A
/// class that the model does not have is an error of whoever is given the selection, which tells the name that was most likely
/// meant.
public struct ClassSelection: Hashable, Sendable {
    /// One class.
    public enum Reference: Hashable, Sendable {
        /// By its label, or by its position in decimal digits.
        case name(String)
        /// By its position in the labels.
        case index(Int)
    }

    private indirect enum Choice: Hashable, Sendable {
        case only([Term])
        case allBut(Choice)
    }

    private enum Term: Hashable, Sendable {
        case one(Reference)
        /// Names with commas in between, which may be parts of names as well.
        case list([String])
    }

    private let choice: Choice

    private init(_ choice: Choice) { self.choice = choice }

    /// Chooses classes by their positions in the labels.
    public init(_ indices: some Sequence<Int>) { self.init(.only(indices.map { .one(.index($0)) })) }

    /// Chooses classes by their names.
    public init(_ names: some Sequence<String>) { self.init(.only(names.map { .one(.name($0)) })) }

    /// Every class but background, which is class 0, and some others.
    public static func allBut(_ others: ClassSelection) -> ClassSelection { ClassSelection(.allBut(others.choice)) }

    /// Every class but background, which is class 0.
    public static var foreground: ClassSelection { allBut([]) }

    /// Reads lists of names or positions with commas in between: `person,8`.
    ///
    /// A label may have commas of its own: where several parts together are one, they mean it. One that has two of them in a row
    /// is chosen by its position.
    package init(texts: [String]) throws(WordError) {
        var terms: [Term] = []
        for text in texts {
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard !parts.contains("") else {
                throw WordError("needs names or indices with commas in between, not '\(text)'")
            }
            terms.append(.list(parts))
        }
        self.init(.only(terms))
    }

    /// The positions of the classes in a model's labels, in the selection's order, each once.
    package func indices(in labels: [String]) throws(WordError) -> [Int] { try Self.indices(choice, in: labels) }

    /// The position of the class of a name, or of a position in decimal digits.
    package static func index(of name: String, in labels: [String]) throws(WordError) -> Int {
        // A label wins over an index: some models have classes that are called by numbers.
        if let found = position(of: name, in: labels) { return found }
        guard let number = Int(name) else {
            let hint =
                nearest(to: name, among: labels).map { "; did you mean \($0)?" }
                ?? "; it knows " + labels.prefix(30).joined(separator: ", ") + (labels.count > 30 ? " ..." : "")
            throw WordError("the model has no class '\(name)'\(hint)")
        }
        guard labels.indices.contains(number) else {
            throw WordError("there is no class \(number); the model has 0 to \(labels.count - 1)")
        }
        return number
    }

    private static func position(of name: String, in labels: [String]) -> Int? {
        labels.firstIndex { $0.lowercased() == name.lowercased() }
    }

    private static func indices(_ choice: Choice, in labels: [String]) throws(WordError) -> [Int] {
        switch choice {
        case .allBut(let others):
            let absent = Set(try indices(others, in: labels))
            return labels.indices.dropFirst().filter { !absent.contains($0) }
        case .only(let terms):
            var found: [Int] = []
            var seen: Set<Int> = []
            for term in terms {
                for index in try indices(term, in: labels) where seen.insert(index).inserted { found.append(index) }
            }
            return found
        }
    }

    private static func indices(_ term: Term, in labels: [String]) throws(WordError) -> [Int] {
        switch term {
        case .one(.name(let name)): return [try index(of: name, in: labels)]
        case .one(.index(let index)):
            guard labels.indices.contains(index) else { throw WordError(absence(of: index, in: labels)) }
            return [index]
        case .list(let parts):
            let longest = (labels.map { label in label.count { $0 == "," } }.max() ?? 0) + 1
            var rest = parts[...]
            var found: [Int] = []
            while let first = rest.first {
                var count = min(longest, rest.count)
                while count > 1, position(of: rest.prefix(count).joined(separator: ","), in: labels) == nil {
                    count -= 1
                }
                found.append(try index(of: count == 1 ? first : rest.prefix(count).joined(separator: ","), in: labels))
                rest = rest.dropFirst(count)
            }
            return found
        }
    }

    /// What is wrong with a position that no class has.
    static func absence(of index: Int, in labels: [String]) -> String {
        "class \(index) does not exist: the model has \(labels.count) classes"
    }
}

extension ClassSelection: ExpressibleByArrayLiteral {
    /// Chooses the classes of a list.
    public init(arrayLiteral elements: Reference...) { self.init(.only(elements.map { .one($0) })) }
}

extension ClassSelection.Reference: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// The class of this name.
    public init(stringLiteral name: String) { self = .name(name) }

    /// The class at this position.
    public init(integerLiteral index: Int) { self = .index(index) }
}
