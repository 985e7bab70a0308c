/// NumPy's array file, version 1.0: a text header padded to 64 bytes, then the values, little-endian, last index
/// fastest.
///
/// Source: numpy.lib.format.
package enum NPY {
    /// The bytes in front of float32 values of a shape, for instance [height, width, classes].
    package static func header(shape: [Int]) -> [UInt8] {
        let sides = shape.map(String.init).joined(separator: ", ") + (shape.count == 1 ? "," : "")
        var text = "{'descr': '<f4', 'fortran_order': False, 'shape': (\(sides)), }"
        // Magic, version and length take 10 bytes; spaces and a newline fill up to a multiple of 64.
        text += String(repeating: " ", count: 63 - (10 + text.utf8.count) % 64) + "\n"
        let length = UInt16(text.utf8.count)
        return [0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(truncatingIfNeeded: length), UInt8(length >> 8)]
            + Array(text.utf8)
    }

    /// A whole file of float32 values; as many as the sides' product.
    package static func encode(_ values: UnsafeBufferPointer<Float>, shape: [Int]) -> [UInt8] {
        precondition(shape.reduce(1, *) == values.count, "\(values.count) values do not fill \(shape)")
        return header(shape: shape) + Array(UnsafeRawBufferPointer(values))
    }
}
