import Base
import Glibc

/// Bytes that come one after the other, from a pipe or, in tests, from memory.
package struct ByteStream {
    /// Fills some of the buffer, which is not empty; 0 at the end.
    package typealias Source = (UnsafeMutableRawBufferPointer) throws(VideoError) -> Int

    private let source: Source
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var position = 0
    private var filled = 0

    /// Bytes from anywhere.
    package init(_ source: @escaping Source) { self.source = source }

    /// The bytes of a descriptor, which the caller closes.
    init(descriptor: Int32) {
        self.init { (buffer) throws(VideoError) in try Self.read(descriptor, into: buffer) }
    }

    /// Reads some bytes of a descriptor; 0 at the end.
    static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(VideoError) -> Int {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw VideoError("cannot be read: \(lastSystemError())") }
            return count
        }
    }

    /// The next byte; nil at the end.
    mutating func next() throws(VideoError) -> UInt8? {
        if position == filled {
            var failure: VideoError?
            filled = buffer.withUnsafeMutableBytes { bytes in
                do throws(VideoError) {
                    return try source(bytes)
                } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            position = 0
            if filled == 0 { return nil }
        }
        defer { position += 1 }
        return buffer[position]
    }

    /// As many bytes as asked for; nil where the stream ends before.
    ///
    /// - Parameter count: Vouched for: memory is taken for so many.
    mutating func bytes(_ count: Int, after prefix: [UInt8] = []) throws(VideoError) -> [UInt8]? {
        var failure: VideoError?
        var isWhole = true
        let total = prefix.count + count
        // An empty array made so would write into the storage that all empty arrays share.
        guard total > 0 else { return [] }
        let result = [UInt8](unsafeUninitializedCapacity: total) { memory, initialized in
            do throws(VideoError) {
                let memory = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(memory)[..<total])
                memory.copyBytes(from: prefix)
                isWhole = try fill(UnsafeMutableRawBufferPointer(rebasing: memory[prefix.count...]))
                initialized = isWhole ? total : 0
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return isWhole ? result : nil
    }

    /// Passes over bytes. False where the stream ends before.
    mutating func skip(_ count: Int) throws(VideoError) -> Bool {
        var rest = count
        while rest > 0 {
            let step = min(rest, filled - position)
            position += step
            rest -= step
            if rest == 0 { break }
            guard try next() != nil else { return false }
            rest -= 1
        }
        return true
    }

    private mutating func fill(_ memory: UnsafeMutableRawBufferPointer) throws(VideoError) -> Bool {
        let ready = min(memory.count, filled - position)
        buffer.withUnsafeBytes {
            memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + ready]))
        }
        position += ready
        var done = ready
        while done < memory.count {
            let count = try source(UnsafeMutableRawBufferPointer(rebasing: memory[done...]))
            if count == 0 { return false }
            done += count
        }
        return true
    }
}

/// Writes all bytes to a descriptor.
///
/// - Returns: False where that failed; `errno` says why. `EPIPE`: nobody reads.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
        let count = write(descriptor, rest.baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
}
