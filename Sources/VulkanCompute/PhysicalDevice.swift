import CVulkan

/// What kind of processor a device is: `VkPhysicalDeviceType`.
package enum DeviceKind: String, Sendable, CaseIterable {
    /// A card of its own.
    case discrete
    /// Part of the main processor.
    case integrated
    /// A share of a card in a virtual machine.
    case virtual
    /// A driver that runs on the main processor.
    case software
    /// None of these.
    case other
}

/// A device as the driver describes it.
package struct PhysicalDevice: Sendable {
    nonisolated(unsafe) let handle: VkPhysicalDevice
    /// The handle is the instance's.
    private let instance: VulkanInstance
    /// Position among the loader's devices.
    package let index: Int
    /// As in `NVIDIA GeForce RTX 3090`.
    package let name: String
    package let kind: DeviceKind
    /// The driver's name and version, as in `llvmpipe Mesa 22.3.6 (LLVM 15.0.6)`.
    package let driver: String
    /// Version of Vulkan that the device has.
    package let apiVersion: Version
    /// Bytes of its largest memory of its own.
    package let memoryByteCount: Int
    /// Bounds on what can be asked of it.
    package let limits: DeviceLimits
    /// What distinguishes a pipeline cache of this device and driver from all others.
    package let cacheIdentity: CacheIdentity
    /// The queue family to use; nil where none computes.
    let computeQueueFamily: UInt32?
    /// Significant bits of a time stamp on its queues; 0 where there are none.
    let timestampBits: UInt32

    /// A version of Vulkan.
    package struct Version: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// As in 1.3.230.
        package let major, minor, patch: Int

        init(_ bits: UInt32) {
            major = Int(bits >> 22 & 0x7f)
            minor = Int(bits >> 12 & 0x3ff)
            patch = Int(bits & 0xfff)
        }

        /// As in `1.3.230`.
        package var description: String { "\(major).\(minor).\(patch)" }

        package static func < (a: Version, b: Version) -> Bool {
            (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
        }

        /// Whether the device has at least Vulkan `major`.`minor`.
        package func isAtLeast(_ major: Int, _ minor: Int) -> Bool { (self.major, self.minor) >= (major, minor) }
    }

    /// What a cache of compiled pipelines is only good for.
    package struct CacheIdentity: Sendable, Hashable {
        /// PCI vendor and device.
        package let vendor, device: UInt32
        /// The driver's version, in its own encoding.
        package let driverVersion: UInt32
        /// The driver's word for "the same": 16 bytes.
        package let uuid: [UInt8]

        package init(vendor: UInt32, device: UInt32, driverVersion: UInt32, uuid: [UInt8]) {
            self.vendor = vendor
            self.device = device
            self.driverVersion = driverVersion
            self.uuid = uuid
        }
    }

    init(handle: VkPhysicalDevice, index: Int, instance: VulkanInstance) {
        self.handle = handle
        self.instance = instance
        self.index = index
        var driver = VkPhysicalDeviceDriverProperties()
        driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES
        var subgroup = VkPhysicalDeviceSubgroupProperties()
        subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES
        var maintenance = VkPhysicalDeviceMaintenance3Properties()
        maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES
        var properties = VkPhysicalDeviceProperties2()
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2
        var bare = VkPhysicalDeviceProperties()
        vkGetPhysicalDeviceProperties(handle, &bare)
        let version = Version(bare.apiVersion)
        // Only a driver of 1.1 or newer has the second function, and only one of 1.2 knows the driver's properties.
        if version.isAtLeast(1, 1) {
            withUnsafeMutablePointer(to: &driver) { driver in
                withUnsafeMutablePointer(to: &subgroup) { subgroup in
                    withUnsafeMutablePointer(to: &maintenance) { maintenance in
                        subgroup.pointee.pNext = version.isAtLeast(1, 2) ? UnsafeMutableRawPointer(driver) : nil
                        maintenance.pointee.pNext = UnsafeMutableRawPointer(subgroup)
                        properties.pNext = UnsafeMutableRawPointer(maintenance)
                        vkGetPhysicalDeviceProperties2(handle, &properties)
                    }
                }
            }
        }
        apiVersion = version
        name = text(of: bare.deviceName)
        kind =
            switch bare.deviceType {
            case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: .discrete
            case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: .integrated
            case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: .virtual
            case VK_PHYSICAL_DEVICE_TYPE_CPU: .software
            default: .other
            }
        let parts = [text(of: driver.driverName), text(of: driver.driverInfo)].filter { !$0.isEmpty }
        self.driver = parts.isEmpty ? "driver \(bare.driverVersion)" : parts.joined(separator: " ")

        var memory = VkPhysicalDeviceMemoryProperties()
        vkGetPhysicalDeviceMemoryProperties(handle, &memory)
        memoryByteCount = withUnsafeBytes(of: memory.memoryHeaps) { bytes in
            bytes.bindMemory(to: VkMemoryHeap.self).prefix(Int(memory.memoryHeapCount))
                .filter { $0.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT.rawValue != 0 }
                .map { Int(clamping: $0.size) }.max() ?? 0
        }
        (computeQueueFamily, timestampBits) = Self.computeQueues(of: handle)
        limits = DeviceLimits(
            bare.limits, subgroupSize: Int(subgroup.subgroupSize),
            allocationByteCount: Int(clamping: maintenance.maxMemoryAllocationSize))
        cacheIdentity = CacheIdentity(
            vendor: bare.vendorID, device: bare.deviceID, driverVersion: bare.driverVersion,
            uuid: withUnsafeBytes(of: bare.pipelineCacheUUID) { Array($0) })
    }

    /// Why the device cannot be used at all; nil where it can.
    package var obstacle: String? {
        if !apiVersion.isAtLeast(1, 1) { return "it has Vulkan \(apiVersion), 1.1 is needed" }
        if computeQueueFamily == nil { return "it has no compute queue" }
        return nil
    }

    /// Whether it can tell how long its work took.
    package var hasTimestamps: Bool { timestampBits > 0 && limits.timestampPeriod > 0 }

    /// The family that computes, if possible one that does not draw, and the significant bits of its time stamps.
    private static func computeQueues(of handle: VkPhysicalDevice) -> (family: UInt32?, timestampBits: UInt32) {
        var count: UInt32 = 0
        vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nil)
        var families = [VkQueueFamilyProperties](repeating: VkQueueFamilyProperties(), count: Int(count))
        vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, &families)
        let compute = families.indices.filter {
            families[$0].queueCount > 0 && families[$0].queueFlags & VK_QUEUE_COMPUTE_BIT.rawValue != 0
        }
        let alone = compute.first { families[$0].queueFlags & VK_QUEUE_GRAPHICS_BIT.rawValue == 0 }
        guard let family = alone ?? compute.first else { return (nil, 0) }
        return (UInt32(family), families[family].timestampValidBits)
    }
}

/// Bounds on what can be asked of a device.
package struct DeviceLimits: Sendable, Hashable {
    /// Bytes that one storage buffer binding may cover.
    package var storageBufferRange: Int
    /// Bytes that one uniform buffer binding may cover.
    package var uniformBufferRange: Int
    /// Elements of a texel buffer view.
    package var texelBufferElements: Int
    /// Uniform buffers that one compute shader may have.
    package var uniformBuffersPerStage: Int
    /// Storage buffers that one compute shader may have.
    package var storageBuffersPerStage: Int
    /// Texel buffers and sampled images that one compute shader may have.
    package var sampledImagesPerStage: Int
    /// Alignments of the offsets of bindings, in bytes.
    package var storageBufferAlignment, uniformBufferAlignment, texelBufferAlignment: Int
    /// Bytes of push constants.
    package var pushConstantsByteCount: Int
    /// Invocations in a workgroup.
    package var workgroupInvocations: Int
    /// Workgroups in each direction of a dispatch.
    package var workgroupCount: [Int]
    /// Bytes of shared memory in a workgroup.
    package var sharedMemoryByteCount: Int
    /// Nanoseconds of one tick of a time stamp.
    package var timestampPeriod: Float
    /// Invocations that run in step.
    package var subgroupSize: Int
    /// Bytes that one piece of memory may have.
    package var allocationByteCount: Int

    init(_ limits: VkPhysicalDeviceLimits, subgroupSize: Int, allocationByteCount: Int) {
        // Vulkan promises a gigabyte; a driver that says nothing is no reason to believe in less.
        self.allocationByteCount = allocationByteCount > 0 ? allocationByteCount : 1 << 30
        storageBufferRange = Int(limits.maxStorageBufferRange)
        uniformBufferRange = Int(limits.maxUniformBufferRange)
        texelBufferElements = Int(limits.maxTexelBufferElements)
        uniformBuffersPerStage = Int(limits.maxPerStageDescriptorUniformBuffers)
        storageBuffersPerStage = Int(limits.maxPerStageDescriptorStorageBuffers)
        sampledImagesPerStage = Int(limits.maxPerStageDescriptorSampledImages)
        storageBufferAlignment = Int(clamping: limits.minStorageBufferOffsetAlignment)
        uniformBufferAlignment = Int(clamping: limits.minUniformBufferOffsetAlignment)
        texelBufferAlignment = Int(clamping: limits.minTexelBufferOffsetAlignment)
        pushConstantsByteCount = Int(limits.maxPushConstantsSize)
        workgroupInvocations = Int(limits.maxComputeWorkGroupInvocations)
        workgroupCount = [
            Int(limits.maxComputeWorkGroupCount.0), Int(limits.maxComputeWorkGroupCount.1),
            Int(limits.maxComputeWorkGroupCount.2),
        ]
        sharedMemoryByteCount = Int(limits.maxComputeSharedMemorySize)
        timestampPeriod = limits.timestampPeriod
        self.subgroupSize = max(1, subgroupSize)
    }

    /// The alignment that suits every kind of binding.
    package var bindingAlignment: Int { max(storageBufferAlignment, uniformBufferAlignment, texelBufferAlignment, 64) }
}

/// The string in a fixed array of C characters.
private func text<Array>(of characters: Array) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
