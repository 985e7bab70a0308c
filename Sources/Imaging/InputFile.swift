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
    init(path: String, limit: Int) throws(ImageError) {
        let isStandardInput = path == "-"
        name = isStandardInput ? "standard input" : path
        let descriptor = isStandardInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ImageError(name, .unreadable(lastSystemError())) }
        defer { if !isStandardInput { close(descriptor) } }

        // One byte more than the file has, so that its end is seen without growing.
        var status = stat()
        let size = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
        guard size <= limit else { throw ImageError(name, .tooManyBytes(limit: limit)) }
        var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(4096, size + 1), alignment: 16)
        var filled = 0
        while true {
            if filled == buffer.count {
                let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count * 2, alignment: 16)
                larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
                buffer.deallocate()
                buffer = larger
            }
            let got = Glibc.read(descriptor, buffer.baseAddress! + filled, buffer.count - filled)
            if got < 0, errno == EINTR { continue }
            if got == 0 { break }
            filled += max(got, 0)
            guard got > 0, filled <= limit else {
                let reason: ImageError.Reason =
                    got < 0 ? .unreadable(lastSystemError()) : .tooManyBytes(limit: limit)
                buffer.deallocate()
                throw ImageError(name, reason)
            }
        }
        memory = buffer
        count = filled
    }

    deinit { memory.deallocate() }

    /// Calls `body` with the bytes.
    borrowing func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws(ImageError) -> Result)
        throws(ImageError) -> Result
    {
        try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
}

/// What `errno` says, in the system's words.
func lastSystemError() -> String { String(cString: strerror(errno)) }
