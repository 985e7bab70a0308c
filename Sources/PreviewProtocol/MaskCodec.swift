import CZlib

/// Writes the bytes of a mask shorter, and reads them again.
package enum MaskCodec {
    /// How hard deflate tries, 1 to 9: beyond it a mask gets little shorter (Sources/PreviewServer/README.md has figures).
    package static let deflateLevel: Int32 = 2

    /// Writes a mask.
    ///
    /// - Parameter encoding: One of those that masks have.
    package static func encode(_ mask: [UInt8], as encoding: PayloadEncoding) -> [UInt8] {
        switch encoding {
        case .runLength: runLength(mask)
        case .deflate: deflate(mask, level: deflateLevel)
        default: mask
        }
    }

    /// Reads a mask of a known size. No more memory is taken than that.
    ///
    /// - Throws: `malformed` when the bytes are not exactly one mask of this size.
    package static func decode(
        _ bytes: [UInt8], as encoding: PayloadEncoding, width: Int, height: Int
    ) throws(ProtocolError) -> [UInt8] {
        let count = width * height
        switch encoding {
        case .plain:
            guard bytes.count == count else { throw refusal(encoding, width, height) }
            return bytes
        case .runLength:
            var mask: [UInt8] = []
            guard bytes.count.isMultiple(of: 2), runLengths(bytes).reduce(0, +) == count else {
                throw refusal(encoding, width, height)
            }
            mask.reserveCapacity(count)
            for (index, length) in runLengths(bytes).enumerated() {
                mask.append(contentsOf: repeatElement(bytes[2 * index + 1], count: length))
            }
            return mask
        case .deflate:
            guard let mask = inflate(bytes, count: count) else { throw refusal(encoding, width, height) }
            return mask
        default: throw ProtocolError(.unknownEncoding, "masks have no encoding \(encoding)")
        }
    }

    private static func refusal(_ encoding: PayloadEncoding, _ width: Int, _ height: Int) -> ProtocolError {
        .broken("the payload is no mask of \(width)x\(height) in the encoding \(encoding)")
    }

    private static func runLengths(_ bytes: [UInt8]) -> some Sequence<Int> {
        stride(from: 0, to: bytes.count, by: 2).lazy.map { Int(bytes[$0]) + 1 }
    }

    /// Pairs of a run's length less one and its value.
    static func runLength(_ mask: [UInt8]) -> [UInt8] {
        var runs: [UInt8] = []
        mask.withUnsafeBufferPointer { mask in
            var start = 0
            while start < mask.count {
                let value = mask[start]
                let limit = min(start + 256, mask.count)
                var end = start + 1
                while end < limit, mask[end] == value { end += 1 }
                runs.append(UInt8(end - start - 1))
                runs.append(value)
                start = end
            }
        }
        return runs
    }

    /// Raw deflate.
    package static func deflate(_ bytes: [UInt8], level: Int32) -> [UInt8] {
        var stream = z_stream()
        guard czlib_deflate_init(&stream, level) == Z_OK else { preconditionFailure("no memory for deflate") }
        defer { deflateEnd(&stream) }
        let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
            bytes.withUnsafeBufferPointer { bytes in
                stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.avail_in = UInt32(bytes.count)
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(capacity)
                let status = CZlib.deflate(&stream, Z_FINISH)
                precondition(status == Z_STREAM_END, "deflateBound() gave too little room")
                initialized = capacity - Int(stream.avail_out)
            }
        }
    }

    /// Exactly `count` bytes out of all of `bytes`; nil where there are fewer or more.
    private static func inflate(_ bytes: [UInt8], count: Int) -> [UInt8]? {
        var stream = z_stream()
        guard czlib_inflate_init(&stream) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        var isWhole = false
        let mask = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            bytes.withUnsafeBufferPointer { bytes in
                stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.avail_in = UInt32(bytes.count)
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(count)
                // With no room left it still goes on to the end of the stream, if nothing but that follows.
                let status = CZlib.inflate(&stream, Z_FINISH)
                isWhole = status == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0
                initialized = isWhole ? count : 0
            }
        }
        return isWhole ? mask : nil
    }
}
