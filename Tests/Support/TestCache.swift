import Base
import Foundation

/// Files that tests make once and keep: in `.build/test-cache`, under names that change with what they are made from.
enum TestCache {
    private static let turn = Locked<Void>(())

    /// The path of a file or folder, made by `make` where it is not there yet.
    ///
    /// `make` works on a path beside the final one, and what it has made is moved there in one step: a run that is
    /// interrupted leaves nothing half made, and two runs at a time do no harm.
    ///
    /// - Parameters:
    ///   - name: Name of the result.
    ///   - sources: Files of the project that decide what comes out, besides the name.
    static func path(_ name: String, from sources: [String], make: (String) throws -> Void) throws -> String {
        try turn.withLock { _ in
            let folder = Checkout.path(".build/test-cache/\(try fingerprint(sources))")
            let path = folder + "/" + name
            let files = FileManager.default
            if files.fileExists(atPath: path) { return path }
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let draft = "\(folder)/\(ProcessInfo.processInfo.processIdentifier).\(name)"
            defer { try? files.removeItem(atPath: draft) }
            try make(draft)
            if rename(draft, path) != 0, !files.fileExists(atPath: path) {
                throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path])
            }
            return path
        }
    }

    /// FNV-1a over the contents of files and of what lies in folders.
    private static func fingerprint(_ sources: [String]) throws -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for source in sources {
            let path = Checkout.path(source)
            let entries = try? FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".py") }
            for file in entries.map({ $0.sorted().map { path + "/" + $0 } }) ?? [path] {
                for byte in try Data(contentsOf: URL(filePath: file)) {
                    hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
                }
            }
        }
        return String(hash, radix: 16)
    }
}
