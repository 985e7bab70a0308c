import Base
import Glibc

/// A file's bytes in memory.
///
/// Read rather than mapped: a mapped file that shrinks meanwhile ends the process.
struct InputFile: ~Copyable {
    /// The file for messages.
    let name: String
    private let memory: UnsafeMutableRawBufferPointer
    private let count: Int

    /// Reads a file, or standard input for `-`, refusing more than `limit` bytes.
    ///
    /// - Parameter check: Looks at the first bytes, 64 of them unless the file is shorter, so that what is no picture is
    ///   refused before the rest is read.
    init(
        path: String, limit: Int, check: (_ start: UnsafeRawBufferPointer, _ name: String) throws(ImageError) -> Void
    ) throws(ImageError) {
        let isStandardInput = path == "-"
        name = isStandardInput ? "standard input" : path
        let descriptor = isStandardInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImageError(name, .unreadable(lastSystemError())) }
        defer { if !isStandardInput { close(descriptor) } }

        // One byte more than the file has, so that its end is seen without growing.
        var status = stat()
        let size = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
        guard size <= limit else { throw ImageError(name, .tooManyBytes(limit: limit)) }
        guard var buffer = Self.memory(max(4096, size + 1), instead: nil) else {
            throw ImageError(name, .unreadable(lastSystemError()))
        }
        var filled = 0
        var isChecked = false
        do throws(ImageError) {
            while true {
                if filled == buffer.count {
                    guard let larger = Self.memory(min(buffer.count * 2, limit + 1), instead: buffer) else {
                        throw ImageError(name, .unreadable(lastSystemError()))
                    }
                    buffer = larger
                }
                let got = Glibc.read(descriptor, buffer.baseAddress! + filled, buffer.count - filled)
                if got < 0, errno == EINTR { continue }
                guard got >= 0 else { throw ImageError(name, .unreadable(lastSystemError())) }
                filled += got
                if !isChecked, got == 0 || filled >= 64 {
                    try check(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), name)
                    isChecked = true
                }
                if got == 0 { break }
                guard filled <= limit else { throw ImageError(name, .tooManyBytes(limit: limit)) }
            }
        } catch {
            free(buffer.baseAddress)
            throw error
        }
        memory = buffer
        count = filled
    }

    deinit { free(memory.baseAddress) }

    /// Memory that holds what the old one held. Large memory is moved and not copied, so that it is there only once.
    private static func memory(
        _ byteCount: Int, instead old: UnsafeMutableRawBufferPointer?
    ) -> UnsafeMutableRawBufferPointer? {
        realloc(old?.baseAddress, byteCount).map { UnsafeMutableRawBufferPointer(start: $0, count: byteCount) }
    }

    /// Calls `body` with the bytes.
    borrowing func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws(ImageError) -> Result)
        throws(ImageError) -> Result
    {
        try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
}
