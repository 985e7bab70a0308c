import Glibc

/// Writes files whole or not at all.
public enum OutputFile {
    /// Writes bytes to a file, replacing what was there in one step; `-` is standard output.
    ///
    /// The bytes go to a file without a name in the same folder, which gets its name when it is whole: nobody ever sees
    /// half a file, and nothing is left behind where writing fails or the process is killed. (On file systems without
    /// nameless files it is a hidden one, `.NAME.*.part`, which only a killed process leaves behind.)
    ///
    /// A file that is replaced keeps its permissions. A symbolic link is followed, a device or pipe written to
    /// directly.
    public static func write(_ bytes: [UInt8], to path: String) throws(ImageError) {
        try bytes.withUnsafeBufferPointer { buffer throws(ImageError) in
            try write([UnsafeRawBufferPointer(buffer)], to: path)
        }
    }

    /// Writes pieces one after the other, for instance a header and values that need not be copied together.
    public static func write(_ pieces: [UnsafeRawBufferPointer], to path: String) throws(ImageError) {
        if path == "-" { return try write(pieces, to: STDOUT_FILENO, name: "standard output") }

        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT == S_IFDIR { throw ImageError(path, .unwritable("is a folder")) }
        // Replacing needs no permission of the file's own, but whoever protects a file means it.
        if exists, access(path, W_OK) != 0 { throw ImageError(path, .unwritable(lastSystemError())) }
        if exists, status.st_mode & S_IFMT != S_IFREG {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw ImageError(path, .unwritable(lastSystemError())) }
            defer { close(descriptor) }
            return try write(pieces, to: descriptor, name: path)
        }

        let destination = try exists ? resolved(path) : followingLinks(path)
        guard var file = PendingFile(for: destination) else { throw ImageError(path, .unwritable(lastSystemError())) }
        if exists { fchmod(file.descriptor, status.st_mode & 0o777) }
        try write(pieces, to: file.descriptor, name: path)
        guard file.publish() else { throw ImageError(path, .unwritable(lastSystemError())) }
    }

    private static func write(
        _ pieces: [UnsafeRawBufferPointer], to descriptor: Int32, name: String
    ) throws(ImageError) {
        for piece in pieces {
            var rest = piece[...]
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw ImageError(name, .unwritable(lastSystemError())) }
                rest = rest.dropFirst(written)
            }
        }
    }

    /// The file behind symbolic links.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// The file that symbolic links lead to, where it does not exist yet.
    private static func followingLinks(_ path: String) throws(ImageError) -> String {
        var path = path
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        for _ in 0..<40 {  // as many as the system follows
            let count = readlink(path, &buffer, buffer.count)
            guard count >= 0 else { return path }
            let target = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
            path = target.hasPrefix("/") ? target : folder(of: path) + target
        }
        throw ImageError(path, .unwritable(String(cString: strerror(ELOOP))))
    }
}

/// The folder in a path, with the slash behind it; empty for the current one.
private func folder(of path: String) -> Substring {
    path[..<(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)]
}

/// A file that is being written beside its destination, and gone unless it is published.
private struct PendingFile: ~Copyable {
    let descriptor: Int32
    private let destination: String
    /// Nil: the file has no name yet.
    private var name: String?

    /// `O_TMPFILE`, whose definition Swift does not import.
    private static let nameless: Int32 = 0o20_000_000 | O_DIRECTORY
    private static let attempts = 100

    /// Nil where the folder takes no file; `errno` says why.
    init?(for destination: String) {
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
                return nil
            }
        }
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    /// Gives the file its name. False where that failed; `errno` says why.
    mutating func publish() -> Bool {
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
        // A name as long as the system allows would not fit with an addition.
        let file = destination[folder.endIndex...].prefix(32)
        return "\(folder).\(file).\(getpid())-\(UInt32.random(in: 0 ... .max)).part"
    }

    deinit {
        if let name { unlink(name) }
        close(descriptor)
    }
}
