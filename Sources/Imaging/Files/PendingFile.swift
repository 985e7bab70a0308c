import Base
import Glibc

/// The folder in a path, with the slash behind it; empty for the current one.
private func folder(of path: String) -> Substring {
    // By bytes: a slash before a combining mark is a slash for the system.
    path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex)]
}

/// A file that is being written beside its destination, and gone unless it is published.
package struct PendingFile: ~Copyable {
    /// The file, open for writing. Other programs open it, for reading too, as `/dev/fd/N` of a copy that they are given.
    package let descriptor: Int32
    private let path: String
    private let destination: String
    /// Permissions of the file that is replaced.
    private var permissions: mode_t?
    /// Its hidden name. Nil: it has no name yet.
    package private(set) var name: String?

    /// `O_TMPFILE`, whose definition Swift does not import.
    private static let nameless: Int32 = 0o20_000_000 | O_DIRECTORY
    private static let attempts = 100

    /// Begins a file that will replace what is there, if anything is, following symbolic links.
    ///
    /// - Throws: `ImageError` where that is a folder or no file, is protected, or where its folder takes no file.
    package init(replacing path: String) throws(ImageError) {
        var status = stat()
        let exists = stat(path, &status) == 0
        // A file without a name would learn this when it is whole.
        if !exists, errno == ENAMETOOLONG { throw ImageError(path, .unwritable(lastSystemError())) }
        if exists {
            if status.st_mode & S_IFMT == S_IFDIR { throw ImageError(path, .unwritable("is a folder")) }
            // Replacing needs no permission of the file's own, but whoever protects a file means it.
            if access(path, W_OK) != 0 { throw ImageError(path, .unwritable(lastSystemError())) }
            if status.st_mode & S_IFMT != S_IFREG { throw ImageError(path, .unwritable("is no file")) }
        }
        try self.init(path, destination: Self.followingLinks(path))
        if exists { permissions = status.st_mode & 0o777 }
    }

    /// Begins a file beside another one that is not meant to stay.
    package init(beside path: String) throws(ImageError) { try self.init(path, destination: path) }

    private init(_ path: String, destination: String) throws(ImageError) {
        self.path = path
        self.destination = destination
        let folder = folder(of: destination)
        var descriptor = open(folder.isEmpty ? "." : String(folder), Self.nameless | O_WRONLY | O_CLOEXEC, 0o666)
        if descriptor >= 0, access("/proc/self/fd/\(descriptor)", F_OK) != 0 {
            // Without /proc it could never be given a name.
            close(descriptor)
            descriptor = -1
        }
        for _ in 0..<Self.attempts where descriptor < 0 {
            let name = Self.freshName(beside: destination)
            descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            if descriptor >= 0 {
                self.name = name
            } else if errno != EEXIST {
                break
            }
        }
        guard descriptor >= 0 else { throw ImageError(path, .unwritable(lastSystemError())) }
        self.descriptor = descriptor
    }

    /// Gives the file its name.
    package mutating func publish() throws(ImageError) {
        if let permissions { fchmod(descriptor, permissions) }
        guard giveName() else { throw ImageError(path, .unwritable(lastSystemError())) }
    }

    /// False where that failed; `errno` says why.
    private mutating func giveName() -> Bool {
        if name == nil {
            if link(to: destination) { return true }
            guard errno == EEXIST else { return false }
            // A link replaces nothing, a new name does.
            for _ in 0..<Self.attempts where name == nil {
                let fresh = Self.freshName(beside: destination)
                if link(to: fresh) {
                    name = fresh
                } else if errno != EEXIST {
                    return false
                }
            }
        }
        guard let name, rename(name, destination) == 0 else { return false }
        self.name = nil
        return true
    }

    private func link(to path: String) -> Bool {
        linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
    }

    private static func freshName(beside destination: String) -> String {
        let folder = folder(of: destination)
        // A name as long as the system allows, which counts bytes, would not fit with an addition.
        var file = String.UnicodeScalarView()
        var byteCount = 0
        for scalar in destination[folder.endIndex...].unicodeScalars {
            byteCount += UTF8.width(scalar)
            if byteCount > 32 { break }
            file.append(scalar)
        }
        return "\(folder).\(String(file)).\(getpid())-\(UInt32.random(in: 0 ... .max)).part"
    }

    /// The file that symbolic links lead to, whether it exists or not.
    private static func followingLinks(_ path: String) throws(ImageError) -> String {
        var path = path
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        for _ in 0..<40 {  // as many as the system follows
            let count = readlink(path, &buffer, buffer.count)
            guard count >= 0 else { return path }
            guard let target = String(validating: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) else {
                throw ImageError(path, .unwritable("it is a link to a name that is not UTF-8"))
            }
            path = target.hasPrefix("/") ? target : folder(of: path) + target
        }
        throw ImageError(path, .unwritable(systemErrorText(ELOOP)))
    }

    deinit {
        if let name { unlink(name) }
        close(descriptor)
    }
}
