import Base
import CVulkan

/// A fence: tells the host when a submission is done.
///
/// It keeps alive what it has submitted, buffers included, until the device is done with it; where nobody has waited for that,
/// it waits itself before it goes away. What a device hangs on is never given back.
package final class Submission: @unchecked Sendable {
    private let device: LogicalDevice
    private let fence: VkFence
    /// What the device may still be working on.
    private var pending: CommandBuffer?
    /// How long it waits, when it goes away, for a device that nobody has waited for.
    private static let patienceNanoseconds: UInt64 = 10_000_000_000

    /// What devices that hang may still work on, kept for good.
    private static let abandoned = Locked<[CommandBuffer]>([])

    /// Creates a fence that nothing has been submitted with.
    package init(_ device: LogicalDevice) throws(VulkanError) {
        self.device = device
        var info = VkFenceCreateInfo()
        info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO
        var made: VkFence?
        try call("vkCreateFence", device.faults) { vkCreateFence(device.handle, &info, nil, &made) }
        guard let made else { throw VulkanError("vkCreateFence", .unavailable("no fence")) }
        fence = made
    }

    deinit {
        // A lost device returns at once.
        if let pending {
            let result =
                device.faults?.result(of: FaultInjector.lastWait)
                ?? withUnsafePointer(to: Optional(fence)) {
                    vkWaitForFences(device.handle, 1, $0, 1, Self.patienceNanoseconds)
                }
            if result == VK_TIMEOUT {
                // They hold the device, so that is not destroyed either.
                Self.abandoned.withLock { $0.append(pending) }
                return
            }
        }
        vkDestroyFence(device.handle, fence, nil)
    }

    /// Hands commands to the device.
    ///
    /// - Throws: `VulkanError`; with `.timedOut` where an earlier submission with this fence has not been seen to end.
    package func submit(_ commands: CommandBuffer) throws(VulkanError) {
        guard pending == nil else { throw VulkanError("vkQueueSubmit", .timedOut) }
        try call("vkResetFences", device.faults) {
            withUnsafePointer(to: Optional(fence)) { vkResetFences(device.handle, 1, $0) }
        }
        try device.withQueue { queue throws(VulkanError) in
            try withUnsafePointer(to: Optional(commands.handle)) { buffer throws(VulkanError) in
                var info = VkSubmitInfo()
                info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO
                info.commandBufferCount = 1
                info.pCommandBuffers = buffer
                try call("vkQueueSubmit", device.faults) { vkQueueSubmit(queue, 1, &info, fence) }
            }
        }
        pending = commands
    }

    /// Waits until the submission is done.
    ///
    /// - Throws: `VulkanError` with `.timedOut` after `nanoseconds`, or when the device is lost.
    package func wait(nanoseconds: UInt64) throws(VulkanError) {
        let result = try call("vkWaitForFences", device.faults, accepting: VK_TIMEOUT) {
            withUnsafePointer(to: Optional(fence)) { vkWaitForFences(device.handle, 1, $0, 1, nanoseconds) }
        }
        if result == VK_TIMEOUT { throw VulkanError("vkWaitForFences", .timedOut) }
        pending = nil
    }
}

/// Time stamps that the device takes between commands.
package final class TimestampPool: @unchecked Sendable {
    package let count: Int
    private let device: LogicalDevice
    private let pool: VkQueryPool
    private let mask: UInt64

    /// Creates a pool; nil where the device takes no time stamps.
    package init?(_ device: LogicalDevice, count: Int) throws(VulkanError) {
        guard device.physical.hasTimestamps else { return nil }
        let bits = device.physical.timestampBits
        self.device = device
        self.count = count
        mask = bits >= 64 ? .max : 1 << UInt64(bits) - 1
        var info = VkQueryPoolCreateInfo()
        info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO
        info.queryType = VK_QUERY_TYPE_TIMESTAMP
        info.queryCount = UInt32(count)
        var made: VkQueryPool?
        try call("vkCreateQueryPool", device.faults) { vkCreateQueryPool(device.handle, &info, nil, &made) }
        guard let made else { throw VulkanError("vkCreateQueryPool", .unavailable("no query pool")) }
        pool = made
    }

    deinit { vkDestroyQueryPool(device.handle, pool, nil) }

    func reset(in buffer: VkCommandBuffer) { vkCmdResetQueryPool(buffer, pool, 0, UInt32(count)) }

    func write(_ index: Int, in buffer: VkCommandBuffer) {
        precondition(index < count, "more time stamps than the pool has")
        vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, UInt32(index))
    }

    /// The time of each stamp after the first, in seconds since the one before it. The submission must be done.
    package func intervals() throws(VulkanError) -> [Double] {
        var ticks = [UInt64](repeating: 0, count: count)
        let size = count * 8
        try call("vkGetQueryPoolResults", device.faults) {
            vkGetQueryPoolResults(
                device.handle, pool, 0, UInt32(count), size, &ticks, 8, VK_QUERY_RESULT_64_BIT.rawValue)
        }
        let seconds = Double(device.physical.limits.timestampPeriod) * 1e-9
        return zip(ticks, ticks.dropFirst()).map { Double(($1 &- $0) & mask) * seconds }
    }
}
