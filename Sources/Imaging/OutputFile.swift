import Glibc

/// Writes files whole or not at all.
public enum OutputFile {
    /// Writes bytes to a file, replacing what was there in one step; `-` is standard output.
    ///
    /// The bytes go to a temporary file in the same folder, which then takes the name, so nobody ever sees half a
    /// file; it is removed when something fails. A symbolic link is followed, a device or pipe written to directly.
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
        if exists, status.st_mode & S_IFMT != S_IFREG {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw ImageError(path, .unwritable(lastSystemError())) }
            defer { close(descriptor) }
            return try write(pieces, to: descriptor, name: path)
        }

        let destination = exists ? resolved(path) : path
        let (temporary, descriptor) = try openTemporary(beside: destination, name: path)
        do throws(ImageError) {
            do throws(ImageError) {
                try write(pieces, to: descriptor, name: path)
            } catch {
                close(descriptor)
                throw error
            }
            guard close(descriptor) == 0, rename(temporary, destination) == 0 else {
                throw ImageError(path, .unwritable(lastSystemError()))
            }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Creates a file that nothing else has, named after `path`.
    private static func openTemporary(
        beside path: String, name: String
    ) throws(ImageError) -> (path: String, descriptor: Int32) {
        let slash = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        // A name as long as the system allows would not fit with an addition.
        let file = path[slash...].prefix(64)
        for attempt in 0..<100 {
            let temporary = "\(path[..<slash]).\(file).\(getpid())-\(attempt)-\(UInt16.random(in: 0 ... .max)).part"
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            if descriptor >= 0 { return (temporary, descriptor) }
            guard errno == EEXIST else { break }
        }
        throw ImageError(name, .unwritable(lastSystemError()))
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
}
