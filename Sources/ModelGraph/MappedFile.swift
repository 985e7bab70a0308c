import Base
import Glibc

/// A file in memory, read only.
///
/// The pages are the kernel's own copy of the file: opening a model costs no read and no memory of ours. Where the file
/// is cut short in place while it is mapped, later reads of the missing pages fail with SIGBUS, which nothing here can
/// catch. Renaming a new file over it is safe: the old one lives on until it is unmapped. The header, which decides about
/// memory safety, is copied before it is checked.
final class MappedFile: Weights.Storage {
    // Never written: safe to read from any thread.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    init(path: String, byteLimit: Int) throws(ModelFault) {
        // O_NONBLOCK: a pipe without a writer would otherwise be waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ModelFault("cannot be opened: \(lastSystemError())") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw ModelFault("cannot be examined: \(lastSystemError())")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ModelFault("is not a regular file") }
        let byteCount = Int(status.st_size)
        guard byteCount <= byteLimit else { throw ModelFault(memory: byteCount, limit: byteLimit) }
        guard byteCount > 0 else { throw ModelFault("is empty") }
        let address = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let address, address != MAP_FAILED else {
            throw ModelFault("cannot be mapped into memory: \(lastSystemError())")
        }
        bytes = UnsafeRawBufferPointer(start: address, count: byteCount)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}
