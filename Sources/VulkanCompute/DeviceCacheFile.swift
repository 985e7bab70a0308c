import Base

/// The bytes of a file in a `DeviceCacheFolder`, with everything that must be the same before a driver is shown its data.
///
/// ```
/// magic "SLHTPC01" | vendor u32 | device u32 | driver version u32 | uuid 16 bytes | length u64 | FNV-1a u64 | data
/// ```
/// All numbers are little-endian. Drivers check their own header, but not all survive a damaged body.
package enum DeviceCacheFile {
    private static let magic = Array("SLHTPC01".utf8)
    private static let headerByteCount = 8 + 12 + 16 + 16

    /// The file for a cache's data.
    package static func encode(_ data: [UInt8], for identity: PhysicalDevice.CacheIdentity) -> [UInt8] {
        var bytes = magic
        for number in [identity.vendor, identity.device, identity.driverVersion] { bytes += littleEndian(number) }
        bytes += identity.uuid
        bytes += littleEndian(UInt64(data.count))
        var checksum = FNV1a()
        checksum.add(data)
        bytes += littleEndian(checksum.value)
        return bytes + data
    }

    /// The data in a file; nil where it is damaged or belongs to another device or driver.
    package static func decode(_ bytes: [UInt8], for identity: PhysicalDevice.CacheIdentity) -> [UInt8]? {
        guard bytes.count >= headerByteCount, identity.uuid.count == 16 else { return nil }
        let data = Array(bytes[headerByteCount...])
        return bytes.elementsEqual(encode(data, for: identity)) ? data : nil
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
