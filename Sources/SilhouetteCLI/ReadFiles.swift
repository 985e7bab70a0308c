import Glibc

/// The files that a command reads, so that it replaces none of them by what it writes.
package struct ReadFiles {
    private var uses: [FileIdentity: String] = [:]

    package init() {}

    /// Adds a file, where there is one of this name.
    ///
    /// - Parameter use: What would be lost: "the photograph a.jpg".
    package mutating func add(_ path: String, _ use: String) {
        if let identity = FileIdentity(path) { uses[identity] = use }
    }

    /// Adds what standard input comes from, where that is a file.
    package mutating func addStandardInput(_ use: String) {
        if let identity = FileIdentity(descriptor: STDIN_FILENO) { uses[identity] = use }
    }

    /// Refuses outputs that would replace one of the files, and two that are one file by a link.
    package func requireUntouched(by outputs: some Sequence<String>) throws(UsageError) {
        var written: [FileIdentity: String] = [:]
        for path in outputs {
            guard let identity = FileIdentity(path) else { continue }
            if let use = uses[identity] {
                throw UsageError("\(path) would replace \(use); choose another name or folder with -o")
            }
            if let other = written.updateValue(path, forKey: identity), other.utf8.elementsEqual(path.utf8) == false {
                throw UsageError("\(other) and \(path) are one file, by a link; remove the link")
            }
        }
    }
}

/// Tells files apart whatever they are called. Devices and pipes are none: what is written there replaces nothing.
private struct FileIdentity: Hashable {
    private let device, number: UInt

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
    }
}
