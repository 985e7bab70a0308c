import DeviceSupport
import Testing
import VulkanCompute

@Suite("Instances and devices", .serialized, .needsVulkan)
struct InstanceTests {
    @Test("A device is described by what every driver has")
    func description() throws {
        let devices = try VulkanInstance().physicalDevices()
        #expect(devices.map(\.index) == Array(devices.indices))
        for device in devices {
            #expect(!device.name.isEmpty && !device.driver.isEmpty)
            #expect(device.memoryByteCount > 0)
            #expect(device.cacheIdentity.uuid.count == 16)
            // The least that the specification lets a driver have.
            #expect(device.limits.storageBufferRange >= 1 << 27)
            #expect(device.limits.uniformBufferRange >= 16_384)
            #expect(device.limits.texelBufferElements >= 65_536)
            #expect(device.limits.pushConstantsByteCount >= 128)
            #expect(device.limits.workgroupInvocations >= 128)
            #expect(device.limits.workgroupCount.allSatisfy { $0 >= 65_535 })
            let alignment = device.limits.bindingAlignment
            for needed in [
                device.limits.storageBufferAlignment, device.limits.uniformBufferAlignment,
                device.limits.texelBufferAlignment,
            ] {
                #expect(needed > 0 && alignment % needed == 0)
            }
        }
    }

    @Test("A description outlives the instance that it came from")
    func outliving() throws {
        let devices = try { try VulkanInstance().physicalDevices() }()
        for device in devices { #expect(device.obstacle == nil || !device.apiVersion.isAtLeast(1, 1)) }
    }

    @Test("Two devices work side by side")
    func twoDevices() throws {
        let devices = [try TestDevice.open(), try TestDevice.open()]
        for (index, device) in devices.enumerated() {
            let source = try Buffer.of([1, 2, 3], device)
            let target = try Buffer(device, byteCount: 12, .readback)
            let pipeline = try TestShader.scale.pipeline(device, constants: [64, UInt32(index + 2)])
            try device.run([.scale(pipeline, source.all, to: target.all)])
            #expect(target.words == [1, 2, 3].map { $0 * UInt32(index + 2) })
        }
    }

    @Test("Versions are compared by their parts")
    func versions() throws {
        let version = try #require(try VulkanInstance().physicalDevices().first).apiVersion
        #expect(version.isAtLeast(1, 0))
        #expect(!version.isAtLeast(version.major, version.minor + 1))
        #expect(!version.isAtLeast(version.major + 1, 0))
        #expect("\(version)".split(separator: ".").count == 3)
    }
}
