/// Reads numbers at offsets that a file names: nil outside the bytes, whatever the offset.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer
    /// The byte order where a call does not name one.
    var bigEndian = true

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    func uint8(at offset: Int) -> UInt8? { load(offset) }

    func uint16(at offset: Int, bigEndian: Bool? = nil) -> UInt16? {
        let value: UInt16? = load(offset)
        return value.map { bigEndian ?? self.bigEndian ? $0.bigEndian : $0.littleEndian }
    }

    func uint32(at offset: Int, bigEndian: Bool? = nil) -> UInt32? {
        let value: UInt32? = load(offset)
        return value.map { bigEndian ?? self.bigEndian ? $0.bigEndian : $0.littleEndian }
    }

    /// The bytes `offset ..< offset + count`, nil unless all of them exist.
    func slice(at offset: Int, count: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    private func load<Value: BitwiseCopyable>(_ offset: Int) -> Value? {
        guard offset >= 0, offset <= bytes.count - MemoryLayout<Value>.size else { return nil }
        return bytes.loadUnaligned(fromByteOffset: offset, as: Value.self)
    }
}
