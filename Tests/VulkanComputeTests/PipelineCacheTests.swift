import DeviceSupport
import Foundation
import TestSupport
import Testing
import VulkanCompute

@Suite("Pipeline cache on disk", .serialized, .needsVulkan)
struct PipelineCacheTests {
    private let identity: PhysicalDevice.CacheIdentity
    private let data = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }

    init() throws {
        identity = try TestDevice.open().physical.cacheIdentity
    }

    @Test("What is encoded is decoded")
    func roundTrip() {
        for data in [data, [], [0]] {
            #expect(DeviceCacheFile.decode(DeviceCacheFile.encode(data, for: identity), for: identity) == data)
        }
    }

    @Test("Every bit of a file counts")
    func bitFlips() {
        let file = DeviceCacheFile.encode(Array(data.prefix(40)), for: identity)
        for index in file.indices {
            for bit in 0..<8 {
                var damaged = file
                damaged[index] ^= 1 << UInt8(bit)
                #expect(DeviceCacheFile.decode(damaged, for: identity) == nil, "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test("A file that is cut off or has something behind it is none")
    func lengths() {
        let file = DeviceCacheFile.encode(Array(data.prefix(40)), for: identity)
        for count in file.indices { #expect(DeviceCacheFile.decode(Array(file.prefix(count)), for: identity) == nil) }
        #expect(DeviceCacheFile.decode(file + [0], for: identity) == nil)
    }

    @Test("A folder gives back what it was given, and has made itself")
    func storing() throws {
        try withScratchFolder { scratch in
            let folder = DeviceCacheFolder(path: "\(scratch)/a/b/pipelines")
            #expect(folder.data(for: identity) == [])
            #expect(folder.store(data, for: identity))
            #expect(folder.data(for: identity) == data)
            #expect(folder.store([1], for: identity))
            #expect(folder.data(for: identity) == [1])
            // One file, and nothing of the writing left beside it.
            let files = try fileNames(in: folder.path)
            #expect(files.map { "\(folder.path)/\($0)" } == [folder.file(for: identity)])
        }
    }

    @Test(
        "Damaged, truncated, empty and foreign files, a folder, a pipe and a broken link are misses, and are replaced")
    func misses() throws {
        let foreign = try TestDevice.identity(like: identity) { $0[15] ^= 1 }
        let good = DeviceCacheFile.encode(data, for: identity)
        var damaged = good
        damaged[good.count / 2] ^= 4
        let contents: [(String, [UInt8])] = [
            ("damaged", damaged), ("truncated", Array(good.dropLast(3))), ("empty", []),
            ("foreign", DeviceCacheFile.encode(data, for: foreign)), ("text", Array("not a cache".utf8)),
        ]
        try withScratchFolder { scratch in
            let folder = DeviceCacheFolder(path: scratch)
            let file = folder.file(for: identity)
            for (name, bytes) in contents {
                try makeFile(file, bytes)
                #expect(folder.data(for: identity) == [], "\(name)")
                #expect(folder.store(data, for: identity), "\(name)")
                #expect(folder.data(for: identity) == data, "\(name)")
            }
            try FileManager.default.removeItem(atPath: file)
            #expect(mkfifo(file, 0o600) == 0)
            #expect(folder.data(for: identity) == [])
            #expect(folder.store(data, for: identity))
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "\(scratch)/nowhere")
            #expect(folder.data(for: identity) == [])
            #expect(folder.store(data, for: identity))
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
            #expect(folder.data(for: identity) == [])
            #expect(!folder.store(data, for: identity))
            #expect(try fileNames(in: scratch).count == 1, "nothing half-written is left")
        }
    }

    @Test("A folder that cannot be written is done without")
    func unwritable() throws {
        try withScratchFolder { scratch in
            try makeFile("\(scratch)/file")
            for path in ["\(scratch)/file", "\(scratch)/file/below", "/proc/silhouette", "", "/dev/null/pipelines"] {
                let folder = DeviceCacheFolder(path: path)
                #expect(!folder.store(data, for: identity), "\(path)")
                #expect(folder.data(for: identity) == [], "\(path)")
            }
        }
    }

    @Test("Files above the limit are neither written nor read")
    func limits() throws {
        try withScratchFolder { scratch in
            let small = DeviceCacheFolder(path: scratch, fileByteLimit: 500)
            #expect(!small.store(data, for: identity))
            let files = try fileNames(in: scratch)
            #expect(files.isEmpty)
            #expect(DeviceCacheFolder(path: scratch).store(data, for: identity))
            #expect(small.data(for: identity) == [])
        }
    }

    @Test("The oldest files go when there are too many")
    func pruning() throws {
        try withScratchFolder { scratch in
            let folder = DeviceCacheFolder(path: scratch, fileLimit: 3)
            for age in 1...5 {
                let path = "\(scratch)/old-\(age).bin"
                try makeFile(path, [1])
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -1000 * Double(age))], ofItemAtPath: path)
            }
            try makeFile("\(scratch)/notes.txt")
            #expect(folder.store(data, for: identity))
            #expect(folder.data(for: identity) == data)
            let newest = URL(fileURLWithPath: folder.file(for: identity)).lastPathComponent
            let files = try Set(fileNames(in: scratch))
            #expect(files == [newest, "old-1.bin", "old-2.bin", "notes.txt"])
        }
    }

    @Test("Each device and driver has a file of its own")
    func names() throws {
        let folder = DeviceCacheFolder(path: "/cache")
        let other = try TestDevice.identity(like: identity) { $0[0] ^= 1 }
        #expect(folder.file(for: identity) != folder.file(for: other))
        #expect(folder.file(for: identity).hasPrefix("/cache/"))
    }

    @Test("A driver takes back its own data, and any other bytes do no harm")
    func drivers() throws {
        let device = try TestDevice.open()
        let first = PipelineCache(device)
        _ = try TestShader.scale.pipeline(device, constants: [64, 2], cache: first)
        for data in [first.data, [], [1, 2, 3], [UInt8](repeating: 255, count: 4096)] {
            let cache = PipelineCache(device, data: data)
            let pipeline = try TestShader.scale.pipeline(device, constants: [64, 2], cache: cache)
            let buffer = try Buffer.of([21], device)
            let target = try Buffer(device, byteCount: 4, .readback)
            try device.run([.scale(pipeline, buffer.all, to: target.all)])
            #expect(target.words == [42])
        }
    }
}

extension TestDevice {
    /// Another device's or driver's identity.
    static func identity(
        like identity: PhysicalDevice.CacheIdentity, _ change: (inout [UInt8]) -> Void
    ) throws -> PhysicalDevice.CacheIdentity {
        var uuid = identity.uuid
        change(&uuid)
        return PhysicalDevice.CacheIdentity(
            vendor: identity.vendor, device: identity.device, driverVersion: identity.driverVersion, uuid: uuid)
    }
}
