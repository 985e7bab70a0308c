import TestSupport
import Testing

@Suite("NPY file")
struct NPYFileTests {
    /// A file as `numpy.save` writes it.
    private func file(_ type: String, _ shape: String, _ data: [UInt8], version: UInt8 = 1, order: String = "False")
        -> [UInt8]
    {
        var header = "{'descr': '\(type)', 'fortran_order': \(order), 'shape': \(shape), }"
        let prefix = version == 1 ? 10 : 12
        header += String(repeating: " ", count: 63 - (prefix + header.utf8.count) % 64) + "\n"
        let length = UInt8(header.utf8.count)
        let lengthBytes: [UInt8] = version == 1 ? [length, 0] : [length, 0, 0, 0]
        return [0x93] + Array("NUMPY".utf8) + [version, 0] + lengthBytes + Array(header.utf8) + data
    }

    @Test("holds float32, float16 and bytes, in every version of the format")
    func types() throws {
        let floats = try NPYFile(file("<f4", "(1, 2)", [0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc1]))
        #expect(floats.shape == [1, 2])
        #expect(floats.values == [1, -10])
        let halves = try NPYFile(file("<f2", "(3,)", [0, 0x3c, 0, 0xc0, 1, 0], version: 2))
        #expect(halves.shape == [3])
        #expect(halves.values == [1, -2, 0x1p-24])
        let bytes = try NPYFile(file("|u1", "(2, 1, 2)", [0, 1, 128, 255], version: 3))
        #expect(bytes.shape == [2, 1, 2])
        #expect(bytes.values == [0, 1, 128, 255])
        let scalar = try NPYFile(file("|u1", "()", [7]))
        #expect(scalar.shape == [] && scalar.values == [7])
        #expect(try NPYFile(file("<f4", "(0, 4)", [])).values.isEmpty)
    }

    @Test("refuses what it cannot read, in words")
    func refusals() {
        func reason(_ bytes: [UInt8]) -> String {
            do {
                _ = try NPYFile(bytes)
                return "read"
            } catch {
                return "\(error)"
            }
        }
        #expect(reason([]) == "does not begin as an .npy file")
        #expect(reason(Array("NUMPY 12345".utf8)) == "does not begin as an .npy file")
        #expect(reason(file("|u1", "(1,)", [1], version: 4)) == "has format version 4, expected 1 to 3")
        #expect(reason(Array(file("<f4", "(1,)", [0, 0, 0, 0]).prefix(40))) == "ends within its header")
        #expect(reason(file(">f4", "(1,)", [0, 0, 0, 0])).hasPrefix("is not little-endian float32, float16 or uint8"))
        #expect(reason(file("<f4", "(1,)", [0, 0, 0, 0], order: "True")).hasPrefix("is not in C order"))
        #expect(reason(file("<f4", "(2,)", [0, 0, 0, 0])) == "has 4 bytes of data for 2 values of 4")
        #expect(reason(file("<f4", "(x,)", [0, 0, 0, 0])).hasPrefix("has no shape"))
        #expect(reason(file("<f4", "(-1,)", [0, 0, 0, 0])).hasPrefix("has no shape"))
        #expect(reason(file("<f4", "(4611686018427387904, 8)", [])).hasPrefix("has a shape past all bounds"))
        #expect(reason(file("<f4", "(4611686018427387904,)", [])).hasPrefix("has 0 bytes of data"))
    }
}
