#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import ModelGraph

/// An array as numpy's `save` writes it: little-endian float32, float16 or uint8 in C order.
///
/// Source: numpy's documentation, `numpy.lib.format`.
package struct NPYFile: Sendable {
    /// Extent of each dimension, outermost first.
    package let shape: [Int]
    /// The values, whatever their type was.
    package let values: [Float]

    /// Reads a file.
    package init(path: String) throws {
        do {
            try self.init([UInt8](Data(contentsOf: URL(filePath: path))))
        } catch let error as NPYError {
            throw NPYError("\(path): \(error.reason)")
        }
    }

    /// Reads the bytes of a file.
    ///
    /// - Throws: `NPYError` when they are no such array.
    package init(_ bytes: [UInt8]) throws {
        guard bytes.count >= 10, bytes.starts(with: [0x93] + Array("NUMPY".utf8)) else {
            throw NPYError("does not begin as an .npy file")
        }
        // Format 1 has a header length of two bytes, formats 2 and 3 one of four.
        let lengthByteCount = bytes[6] == 1 ? 2 : 4
        guard (1...3).contains(bytes[6]), bytes.count >= 8 + lengthByteCount else {
            throw NPYError("has format version \(bytes[6]), expected 1 to 3")
        }
        let length = bytes[8..<8 + lengthByteCount].reversed().reduce(0) { $0 << 8 | Int($1) }
        let start = 8 + lengthByteCount + length
        guard start <= bytes.count else { throw NPYError("ends within its header") }
        let header = String(decoding: bytes[8 + lengthByteCount..<start], as: UTF8.self)

        guard Self.value(of: "fortran_order", in: header)?.hasPrefix("False") == true else {
            throw NPYError("is not in C order: \(header)")
        }
        guard let list = Self.value(of: "shape", in: header), list.hasPrefix("("), let end = list.firstIndex(of: ")")
        else { throw NPYError("has no shape: \(header)") }
        let shape = list[..<end].dropFirst().split(separator: ",").map { part in
            Int(part.trimmingPrefix(while: \.isWhitespace))
        }
        var count = 1
        for case let side? in shape where side >= 0 {
            let product = count.multipliedReportingOverflow(by: side)
            guard !product.overflow else { throw NPYError("has a shape past all bounds: \(header)") }
            count = product.partialValue
        }
        guard shape.allSatisfy({ $0 != nil && $0! >= 0 }) else { throw NPYError("has no shape: \(header)") }

        let data = bytes[start...]
        func elements<Element>(_ size: Int, _ convert: (Int) -> Element) throws -> [Element] {
            let byteCount = count.multipliedReportingOverflow(by: size)
            guard !byteCount.overflow, data.count == byteCount.partialValue else {
                throw NPYError("has \(data.count) bytes of data for \(count) values of \(size)")
            }
            return (0..<count).map { convert(start + $0 * size) }
        }
        func bits<Bits: FixedWidthInteger>(_ offset: Int, as: Bits.Type) -> Bits {
            bytes.withUnsafeBytes { Bits(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Bits.self)) }
        }
        values =
            switch Self.value(of: "descr", in: header)?.prefix(5) {
            case "'<f4'": try elements(4) { Float(bitPattern: bits($0, as: UInt32.self)) }
            case "'<f2'": try elements(2) { float(fromHalf: bits($0, as: UInt16.self)) }
            case "'|u1'": try elements(1) { Float(bytes[$0]) }
            default: throw NPYError("is not little-endian float32, float16 or uint8: \(header)")
            }
        self.shape = shape.map { $0! }
    }

    /// What follows a key of the header, which is a Python dictionary on one line.
    private static func value(of key: String, in header: String) -> Substring? {
        guard let range = header.firstRange(of: "'\(key)':") else { return nil }
        return header[range.upperBound...].trimmingPrefix(while: \.isWhitespace)
    }
}

/// Why a file is no array that `NPYFile` reads.
package struct NPYError: Error, CustomStringConvertible, Sendable {
    /// What is wrong, as the rest of a sentence that begins with the file.
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    /// The reason.
    package var description: String { reason }
}
