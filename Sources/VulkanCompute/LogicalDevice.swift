import Base
import CVulkan

/// A logical device with one compute queue.
///
/// Everything made from a device holds it, so it goes away last; it holds its instance in turn.
package final class LogicalDevice: Sendable {
    package let physical: PhysicalDevice
    package let instance: VulkanInstance

    nonisolated(unsafe) let handle: VkDevice
    nonisolated(unsafe) private let queueHandle: VkQueue
    let queueFamily: UInt32
    /// Held by who uses the queue; whether nobody may any more.
    private let queueLock = Locked(false)
    let memoryTypes: [VkMemoryPropertyFlags]
    var faults: FaultInjector? { instance.faults }

    /// Opens a device.
    ///
    /// - Throws: `VulkanError` when the device cannot be used or the driver refuses.
    package init(_ physical: PhysicalDevice, instance: VulkanInstance) throws(VulkanError) {
        self.physical = physical
        self.instance = instance
        if let obstacle = physical.obstacle {
            throw VulkanError("vkCreateDevice", .unsupported("\(physical.name) cannot be used: \(obstacle)"))
        }
        queueFamily = physical.computeQueueFamily ?? 0

        var made: VkDevice?
        let faults = instance.faults
        let family = queueFamily
        try withUnsafePointer(to: Float(1)) { priority throws(VulkanError) in
            var queue = VkDeviceQueueCreateInfo()
            queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO
            queue.queueFamilyIndex = family
            queue.queueCount = 1
            queue.pQueuePriorities = priority
            try withUnsafePointer(to: queue) { queue throws(VulkanError) in
                var info = VkDeviceCreateInfo()
                info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO
                info.queueCreateInfoCount = 1
                info.pQueueCreateInfos = queue
                try call("vkCreateDevice", faults) { vkCreateDevice(physical.handle, &info, nil, &made) }
            }
        }
        guard let made else {
            throw VulkanError("vkCreateDevice", .unavailable("\(physical.name) could not be opened"))
        }
        handle = made
        var queue: VkQueue?
        vkGetDeviceQueue(made, queueFamily, 0, &queue)
        queueHandle = queue!  // asked for above, so it exists

        var memory = VkPhysicalDeviceMemoryProperties()
        vkGetPhysicalDeviceMemoryProperties(physical.handle, &memory)
        memoryTypes = withUnsafeBytes(of: memory.memoryTypes) { bytes in
            bytes.bindMemory(to: VkMemoryType.self).prefix(Int(memory.memoryTypeCount)).map(\.propertyFlags)
        }
    }

    deinit {
        // Nothing may be in use when it is destroyed; a lost device returns at once.
        vkDeviceWaitIdle(handle)
        vkDestroyDevice(handle, nil)
    }

    /// Hands over the queue, which one thread at a time may use.
    ///
    /// - Throws: What `body` throws, or that the device has been given up.
    @discardableResult
    func withQueue<Result>(_ body: (VkQueue) throws(VulkanError) -> Result) throws(VulkanError) -> Result {
        try queueLock.withLock { isGivenUp throws(VulkanError) in
            if isGivenUp { throw VulkanError("vkQueueSubmit", .unavailable("\(physical.name) has been given up")) }
            return try body(queueHandle)
        }
    }

    /// Takes no more work, and waits until what was submitted is done. Others are refused at once, however long that takes.
    package func giveUp() throws(VulkanError) {
        queueLock.withLock { $0 = true }
        // Nobody is inside the queue now, and nobody comes in again.
        try call("vkDeviceWaitIdle", faults) { vkDeviceWaitIdle(handle) }
    }

    /// The first memory type among those allowed that has all of `required`, one with all of `preferred` too if there is one.
    func memoryType(allowed: UInt32, required: UInt32, preferred: UInt32) -> UInt32? {
        let fitting = memoryTypes.indices.filter {
            allowed & 1 << UInt32($0) != 0 && memoryTypes[$0] & required == required
        }
        return (fitting.first { memoryTypes[$0] & preferred == preferred } ?? fitting.first).map(UInt32.init)
    }
}
