import Glibc

/// The name of a file in a series, with a number's place in it: `frame-%05d.png`.
package struct NumberedName: Equatable, Sendable {
    /// The name as it was given.
    package let pattern: String
    private let start: String
    private let end: String
    private let digitCount: Int

    /// Finds the place, `%d` or `%0Nd`, in the last part of a path. Nil: there is none, or more than one.
    package init?(_ path: String) {
        let folderEnd = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        guard let percent = path.lastIndex(of: "%"), percent >= folderEnd,
            path[folderEnd..<percent].allSatisfy({ $0 != "%" })
        else { return nil }
        let rest = path[path.index(after: percent)...]
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard rest.dropFirst(digits.count).first == "d" else { return nil }
        if digits.isEmpty {
            digitCount = 1
        } else {
            guard digits.first == "0", let count = Int(digits.dropFirst()), (1...18).contains(count) else { return nil }
            digitCount = count
        }
        pattern = path
        start = String(path[..<percent])
        end = String(rest.dropFirst(digits.count + 1))
    }

    /// The name with a number in it.
    package func path(_ number: Int) -> String {
        let digits = String(number)
        return start + String(repeating: "0", count: max(0, digitCount - digits.count)) + digits + end
    }

    /// The smallest number of a file that is there.
    func firstNumber() -> Int? { numbers().min() }

    /// The files that are there.
    package func files() -> [String] { numbers().map(path) }

    private func numbers() -> [Int] {
        let slash = start.lastIndex(of: "/").map(start.index(after:)) ?? start.startIndex
        let prefix = start[slash...]
        let folder = start[..<slash]
        guard let directory = opendir(folder.isEmpty ? "." : String(folder)) else { return [] }
        defer { closedir(directory) }
        var numbers: [Int] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix), name.hasSuffix(end), name.count > prefix.count + end.count else { continue }
            let digits = name.dropFirst(prefix.count).dropLast(end.count)
            guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits),
                path(number).hasSuffix(name)
            else { continue }
            numbers.append(number)
        }
        return numbers
    }
}
