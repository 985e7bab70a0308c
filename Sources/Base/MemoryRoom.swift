import Glibc

/// Memory that several pieces of work may take together: each waits until its own is free.
package final class MemoryRoom: Sendable {
    /// Bytes in all.
    package let byteCount: Int
    /// What bounds it, in words.
    package let bound: String
    private let taken = Locked(0)

    package init(byteCount: Int, bound: String) {
        self.byteCount = byteCount
        self.bound = bound
    }

    /// What the limits of this process leave it. Nil: it has none.
    ///
    /// - Parameter spare: Bytes that others take: threads to come, and the allocator's own.
    package convenience init?(leftBySystem spare: Int) {
        // Pages: of all addresses first, of data and stacks sixth.
        let pages = Self.ownPages()
        let limits = [
            (RLIMIT_AS, pages.first, "ulimit -v"), (RLIMIT_DATA, pages.count > 5 ? pages[5] : nil, "ulimit -d"),
        ].compactMap { kind, used, name -> (left: Int, name: String)? in
            var limit = rlimit()
            guard let used, getrlimit(__rlimit_resource_t(kind.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int.max)
            else { return nil }
            return (max(0, Int(limit.rlim_cur) - used * Int(sysconf(Int32(_SC_PAGESIZE))) - spare), name)
        }
        let bounds = limits + ControlGroup.bounds().map { (max(0, $0.left - spare), $0.name) }
        guard let least = bounds.min(by: { $0.left < $1.left }) else { return nil }
        self.init(byteCount: least.left, bound: least.name)
    }

    private static func ownPages() -> [Int] {
        guard let file = fopen("/proc/self/statm", "re") else { return [] }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return [] }
        return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    }

    /// Takes so much, waiting for others to give theirs back. False: there is not so much in all.
    package func take(_ count: Int) -> Bool {
        guard count <= byteCount else { return false }
        taken.wait { taken -> Void? in
            guard taken + count <= byteCount else { return nil }
            taken += count
            return ()
        }
        return true
    }

    package func giveBack(_ count: Int) { taken.update { $0 -= count } }
}
