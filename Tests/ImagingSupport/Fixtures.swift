import Foundation
import Imaging
import TestSupport

/// The pictures and tables that `Tests/Fixtures/imaging/make.py` made, and the generator that it shares with the tests.
package enum Fixtures {
    package static func path(_ name: String) -> String { Checkout.path("Tests/Fixtures/imaging/" + name) }

    package static func bytes(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: path(name))))
    }

    package static func decoded(_ name: String) throws -> DecodedImage { try ImageFile.read(path: path(name)) }

    /// All fixture files with one of the extensions.
    package static func names(_ extensions: String...) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(""))
            .filter { name in extensions.contains { name.hasSuffix("." + $0) } }.sorted()
    }

    /// The rows of a table, without its heading.
    package static func rows(_ name: String) throws -> [[String]] {
        try String(contentsOf: URL(filePath: path(name)), encoding: .utf8).split(separator: "\n").dropFirst()
            .map { $0.split(separator: "\t").map(String.init) }
    }

    /// The pseudo-random bytes of `make.py`.
    package static func noise(_ count: Int, seed: UInt32) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }

    /// A picture of pseudo-random bytes.
    package static func noise(_ width: Int, _ height: Int, _ format: PixelFormat, seed: UInt32 = 1) throws -> Image {
        try Image(
            width: width, height: height, format: format,
            bytes: noise(width * height * format.channelCount, seed: seed))
    }
}

/// CRC-32 as in zlib.
package func crc32(_ bytes: [UInt8]) -> UInt32 {
    let table = crcTable
    return ~bytes.reduce(0xffff_ffff) { table[Int(($0 ^ UInt32($1)) & 0xff)] ^ ($0 >> 8) }
}

private let crcTable: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
}

/// Eight hexadecimal digits.
package func hex(_ value: UInt32) -> String { String(format: "%08x", value) }

extension Image {
    /// The bytes of one pixel.
    package func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let start = y * rowStride + x * format.channelCount
        return Array(bytes[start..<start + format.channelCount])
    }

    /// The largest difference of any channel; nil when size or layout differ.
    package func largestDifference(from other: Image) -> Int? {
        guard size == other.size, format == other.format else { return nil }
        return zip(bytes, other.bytes).map { abs(Int($0) - Int($1)) }.max()
    }
}

extension ImageFile {
    /// Decodes bytes in an array.
    package static func decode(
        _ bytes: [UInt8], name: String = "bytes", limits: ImageLimits = ImageLimits()
    ) throws(ImageError) -> DecodedImage {
        try bytes.withUnsafeBufferPointer { buffer throws(ImageError) in
            try decode(UnsafeRawBufferPointer(buffer), name: name, limits: limits)
        }
    }
}
