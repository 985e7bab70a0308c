/// A constant array of a model: the weights or the bias of a layer.
///
/// The values stay where they are (in the mapped model file, or in an array) and are converted to float32 on request.
package struct Weights: Sendable {
    package enum Format: String, Sendable {
        /// IEEE 754 binary32, little-endian.
        case float32 = "F32"
        /// IEEE 754 binary16, little-endian.
        case float16 = "F16"

        package var byteCount: Int { self == .float32 ? 4 : 2 }
    }

    /// Bytes that stay valid as long as the object lives, such as a mapped file.
    package protocol Storage: AnyObject, Sendable {
        var bytes: UnsafeRawBufferPointer { get }
    }

    /// Extent of each dimension, outermost first.
    package let shape: [Int]
    package let format: Format
    private let storage: any Storage
    private let offset: Int

    /// Creates an array over `storage`, its values beginning at byte `offset`.
    ///
    /// The caller has checked that `shape` fits into the storage.
    package init(shape: [Int], format: Format, storage: any Storage, offset: Int) {
        self.shape = shape
        self.format = format
        self.storage = storage
        self.offset = offset
        precondition(offset >= 0 && offset + byteCount <= storage.bytes.count, "weights reach past their storage")
    }

    /// Creates an array that owns its values.
    package init(shape: [Int], values: [Float]) {
        precondition(shape.reduce(1, *) == values.count, "shape \(shape) does not hold \(values.count) values")
        self.init(shape: shape, format: .float32, storage: ArrayStorage(values), offset: 0)
    }

    package var count: Int { shape.reduce(1, *) }

    /// Bytes that the values take as they are stored.
    package var byteCount: Int { count * format.byteCount }

    /// The values as float32, in the order of the shape.
    package func floats() -> [Float] {
        let bytes = UnsafeRawBufferPointer(rebasing: storage.bytes[offset..<offset + byteCount])
        return [Float](unsafeUninitializedCapacity: count) { values, initialized in
            switch format {
            case .float32:
                UnsafeMutableRawBufferPointer(values).copyMemory(from: bytes)
            case .float16:
                for index in 0..<count {
                    let bits = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
                    values[index] = float(fromHalf: bits)
                }
            }
            initialized = count
        }
    }

    /// Position of the first infinite or undefined value, nil where all are finite.
    func firstNonFiniteIndex() -> Int? {
        let bytes = UnsafeRawBufferPointer(rebasing: storage.bytes[offset..<offset + byteCount])
        switch format {
        case .float32:
            return (0..<count).first {
                let bits = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self))
                return bits & 0x7f80_0000 == 0x7f80_0000
            }
        case .float16:
            return (0..<count).first {
                let bits = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2 * $0, as: UInt16.self))
                return bits & 0x7c00 == 0x7c00
            }
        }
    }
}

/// Owns the values of weights that come from no file.
private final class ArrayStorage: Weights.Storage {
    // Never written after init, freed in deinit: safe to read from any thread.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    init(_ values: [Float]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(4, values.count * 4), alignment: 64)
        values.withUnsafeBytes { copy.copyMemory(from: $0) }
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { bytes.deallocate() }
}
