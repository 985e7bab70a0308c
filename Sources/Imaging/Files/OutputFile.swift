import Base
import Glibc

/// Writes files whole or not at all.
package enum OutputFile {
    /// Writes bytes to a file, replacing what was there in one step; `-` is standard output.
    ///
    /// The bytes go to a file without a name in the same folder, which gets its name when it is whole: nobody ever sees
    /// half a file, and nothing is left behind where writing fails or the process is killed. (On file systems without
    /// nameless files it is a hidden one, `.NAME.*.part`, which only a killed process leaves behind.)
    ///
    /// A file that is replaced keeps its permissions. A symbolic link is followed, a device or pipe written to
    /// directly.
    package static func write(_ bytes: [UInt8], to path: String) throws(ImageError) {
        try bytes.withUnsafeBufferPointer { buffer throws(ImageError) in
            try write([UnsafeRawBufferPointer(buffer)], to: path)
        }
    }

    /// Writes pieces one after the other, for instance a header and values that need not be copied together.
    package static func write(_ pieces: [UnsafeRawBufferPointer], to path: String) throws(ImageError) {
        if path == "-" { return try write(pieces, to: STDOUT_FILENO, name: "standard output") }

        if let descriptor = try openSpecial(path) {
            defer { close(descriptor) }
            return try write(pieces, to: descriptor, name: path)
        }
        var file = try PendingFile(replacing: path)
        try write(pieces, to: file.descriptor, name: path)
        try file.publish()
    }

    /// A device or pipe, opened for writing; nil for a file, and for what does not exist.
    private static func openSpecial(_ path: String) throws(ImageError) -> Int32? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG, status.st_mode & S_IFMT != S_IFDIR else {
            return nil
        }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImageError(path, .unwritable(lastSystemError())) }
        return descriptor
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
}
