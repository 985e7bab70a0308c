import CVulkan

/// Memory of a device.
package final class Buffer: @unchecked Sendable {
    /// Where the memory lies, and who writes and reads it.
    package enum Placement: Sendable {
        /// In the device's own memory; the host does not see it.
        case device
        /// Written by the host, read by the device.
        case upload
        /// Written by the device, read by the host.
        case readback
    }

    package let device: LogicalDevice
    package let byteCount: Int
    /// Where it lies for the host; nil where the host does not see it.
    package let contents: UnsafeMutableRawPointer?
    let handle: VkBuffer
    private let memory: VkDeviceMemory

    /// Takes memory; its contents are undefined.
    ///
    /// - Throws: `VulkanError` when there is not enough of it.
    package init(_ device: LogicalDevice, byteCount: Int, _ placement: Placement) throws(VulkanError) {
        precondition(byteCount > 0)
        // Not every driver refuses what it cannot do: llvmpipe takes more than 2 GiB and then copies with 32-bit numbers.
        let most = device.physical.limits.allocationByteCount
        guard byteCount <= most else {
            throw VulkanError(
                "vkAllocateMemory", .unsupported("a buffer of \(byteCount) bytes, of at most \(most)"))
        }
        self.device = device
        self.byteCount = byteCount
        var info = VkBufferCreateInfo()
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO
        info.size = VkDeviceSize(byteCount)
        info.usage =
            VK_BUFFER_USAGE_STORAGE_BUFFER_BIT.rawValue | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT.rawValue
            | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT.rawValue | VK_BUFFER_USAGE_TRANSFER_SRC_BIT.rawValue
            | VK_BUFFER_USAGE_TRANSFER_DST_BIT.rawValue
        info.sharingMode = VK_SHARING_MODE_EXCLUSIVE
        var made: VkBuffer?
        try call("vkCreateBuffer", device.faults) { vkCreateBuffer(device.handle, &info, nil, &made) }
        guard let made else { throw VulkanError("vkCreateBuffer", .unavailable("vkCreateBuffer gave nothing")) }

        var needs = VkMemoryRequirements()
        vkGetBufferMemoryRequirements(device.handle, made, &needs)
        let visible =
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT.rawValue | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT.rawValue
        let (required, preferred): (UInt32, UInt32) =
            switch placement {
            case .device: (0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT.rawValue)
            case .upload: (visible, 0)
            case .readback: (visible, VK_MEMORY_PROPERTY_HOST_CACHED_BIT.rawValue)
            }
        var memory: VkDeviceMemory?
        var mapped: UnsafeMutableRawPointer?
        do throws(VulkanError) {
            guard
                let type = device.memoryType(
                    allowed: needs.memoryTypeBits, required: required, preferred: preferred)
            else { throw VulkanError("vkAllocateMemory", .unsupported("no memory of the device fits \(placement)")) }
            var allocation = VkMemoryAllocateInfo()
            allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO
            allocation.allocationSize = needs.size
            allocation.memoryTypeIndex = type
            try call("vkAllocateMemory", device.faults) {
                vkAllocateMemory(device.handle, &allocation, nil, &memory)
            }
            try call("vkBindBufferMemory", device.faults) { vkBindBufferMemory(device.handle, made, memory, 0) }
            if placement != .device {
                try call("vkMapMemory", device.faults) {
                    vkMapMemory(device.handle, memory, 0, VkDeviceSize(VK_WHOLE_SIZE), 0, &mapped)
                }
            }
        } catch {
            vkDestroyBuffer(device.handle, made, nil)
            if memory != nil { device.faults?.note("vkFreeMemory") }
            vkFreeMemory(device.handle, memory, nil)
            throw error
        }
        handle = made
        self.memory = memory!  // its allocation succeeded
        contents = mapped
    }

    deinit {
        vkDestroyBuffer(device.handle, handle, nil)
        device.faults?.note("vkFreeMemory")
        vkFreeMemory(device.handle, memory, nil)
    }

    package var all: BufferRange { BufferRange(buffer: self, offset: 0, byteCount: byteCount) }

    package func range(_ offset: Int, _ byteCount: Int) -> BufferRange {
        precondition(offset >= 0 && byteCount > 0 && offset + byteCount <= self.byteCount, "a range outside its buffer")
        return BufferRange(buffer: self, offset: offset, byteCount: byteCount)
    }
}

package struct BufferRange: Sendable {
    package let buffer: Buffer
    /// Where it begins, in bytes.
    package let offset: Int
    package let byteCount: Int

    /// Where it begins for the host; nil where the host does not see it.
    package var contents: UnsafeMutableRawPointer? { buffer.contents.map { $0 + offset } }
}

/// How a texel is stored.
package enum TexelFormat: Sendable {
    case float32x4, float16x4

    package var byteCount: Int { self == .float32x4 ? 16 : 8 }

    fileprivate var vkFormat: VkFormat {
        self == .float32x4 ? VK_FORMAT_R32G32B32A32_SFLOAT : VK_FORMAT_R16G16B16A16_SFLOAT
    }
}

/// A range seen as texels: what `texelFetch` reads.
package final class TexelBufferView: @unchecked Sendable {
    package let range: BufferRange
    package let texelCount: Int
    let handle: VkBufferView

    /// Creates a view; the range must begin at a multiple of the device's texel alignment.
    package init(_ range: BufferRange, _ format: TexelFormat) throws(VulkanError) {
        self.range = range
        texelCount = range.byteCount / format.byteCount
        let device = range.buffer.device
        var info = VkBufferViewCreateInfo()
        info.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO
        info.buffer = range.buffer.handle
        info.format = format.vkFormat
        info.offset = VkDeviceSize(range.offset)
        info.range = VkDeviceSize(range.byteCount)
        var made: VkBufferView?
        try call("vkCreateBufferView", device.faults) { vkCreateBufferView(device.handle, &info, nil, &made) }
        guard let made else { throw VulkanError("vkCreateBufferView", .unavailable("vkCreateBufferView gave nothing")) }
        handle = made
    }

    deinit { vkDestroyBufferView(range.buffer.device.handle, handle, nil) }
}
