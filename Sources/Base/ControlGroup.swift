import Glibc

/// The groups of processes that this one is in, as containers have them, and the memory that they leave it.
package enum ControlGroup {
    /// What each group with a limit has left, in bytes, and the limit's name.
    ///
    /// - Parameters:
    ///   - membership: A file that says in which groups this process is.
    ///   - root: The folder of all groups.
    package static func bounds(
        membership: String = "/proc/self/cgroup", root: String = "/sys/fs/cgroup"
    ) -> [(left: Int, name: String)] {
        guard let text = contents(membership) else { return [] }
        var bounds: [(Int, String)] = []
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            if parts[0] == "0", parts[1].isEmpty {
                bounds += self.bounds(root, String(parts[2]), "memory.max", used: "memory.current")
            } else if parts[1].split(separator: ",").contains("memory") {
                bounds += self.bounds(
                    root + "/memory", String(parts[2]), "memory.limit_in_bytes", used: "memory.usage_in_bytes")
            }
        }
        return bounds
    }

    /// Those of a group and all above it: the least counts, and a container sees only the part below its own.
    private static func bounds(
        _ root: String, _ group: String, _ limit: String, used: String
    ) -> [(left: Int, name: String)] {
        var names = group.split(separator: "/")
        var bounds: [(Int, String)] = []
        while true {
            let folder = ([root] + names.map(String.init)).joined(separator: "/")
            // Without a limit there is a word, or a number that no memory has.
            if let most = number("\(folder)/\(limit)"), most < 1 << 50, let taken = number("\(folder)/\(used)") {
                // Of files, the kernel lets go when memory is needed.
                let files = ["inactive_file", "active_file"].map { statistic($0, of: folder) }.reduce(0, +)
                bounds.append((max(0, most - max(0, taken - files)), "\(limit) of its control group"))
            }
            guard !names.isEmpty else { return bounds }
            names.removeLast()
        }
    }

    private static func number(_ path: String) -> Int? {
        contents(path).flatMap { Int($0.prefix { !$0.isWhitespace }) }
    }

    private static func statistic(_ name: String, of folder: String) -> Int {
        for line in (contents("\(folder)/memory.stat") ?? "").split(separator: "\n") where line.hasPrefix(name + " ") {
            return Int(line.dropFirst(name.count + 1)) ?? 0
        }
        return 0
    }

    private static func contents(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        // Such files are small; what is past this is not looked for.
        var bytes = [UInt8](repeating: 0, count: 1 << 14)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
