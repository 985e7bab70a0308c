import CVulkan

/// One step of a sequence of commands.
package enum Command: Sendable {
    /// A dispatch of a shader.
    case dispatch(Dispatch)
    /// A copy between buffers; both ranges have the same length.
    case copy(from: BufferRange, to: BufferRange)
    /// Time stamp `index`, taken when everything before is done.
    case timestamp(index: Int)

    /// What a dispatch runs, on what, and how much of it.
    package struct Dispatch: Sendable {
        package var pipeline: Pipeline
        /// One for each of the shader's bindings.
        package var resources: [Descriptor]
        /// The push constants, 32 bits each.
        package var pushConstants: [UInt32]
        package var workgroups: (x: Int, y: Int, z: Int)
        /// What the dispatch reads and writes.
        package var reads, writes: [BufferRange]
        /// For people: the layer that it does.
        package var name: String

        package init(
            name: String, _ pipeline: Pipeline, _ resources: [Descriptor], pushConstants: [UInt32],
            workgroups: (x: Int, y: Int, z: Int), reads: [BufferRange], writes: [BufferRange]
        ) {
            self.name = name
            self.pipeline = pipeline
            self.resources = resources
            self.pushConstants = pushConstants
            self.workgroups = workgroups
            self.reads = reads
            self.writes = writes
        }
    }
}

/// A sequence of commands, recorded once and submitted as often as wanted, by one submission at a time.
package final class CommandBuffer: @unchecked Sendable {
    package let dispatchCount: Int
    /// Number of barriers between commands; the ones at the beginning and the end, towards the host, do not count.
    package let barrierCount: Int
    let device: LogicalDevice
    let handle: VkCommandBuffer
    private let pool: VkCommandPool
    private let sets: DescriptorSets
    private let commands: [Command]
    /// The device writes into it as long as it works.
    private let timestamps: TimestampPool?

    /// Records commands with barriers where byte ranges conflict.
    ///
    /// - Parameters:
    ///   - timestamps: Where time stamps go; needed where there are any.
    ///   - omittedBarrier: Number of a barrier that is left out: for the test that proves that validation would notice.
    package convenience init(_ device: LogicalDevice, _ commands: [Command], timestamps: TimestampPool? = nil)
        throws(VulkanError)
    {
        try self.init(device, commands, timestamps: timestamps, omittedBarrier: nil)
    }

    package init(_ device: LogicalDevice, _ commands: [Command], timestamps: TimestampPool?, omittedBarrier: Int?)
        throws(VulkanError)
    {
        self.device = device
        self.commands = commands
        self.timestamps = timestamps
        let dispatches = commands.compactMap { if case .dispatch(let dispatch) = $0 { dispatch } else { nil } }
        for dispatch in dispatches { try dispatch.check(device.physical.limits, of: device.physical.name) }
        sets = try DescriptorSets(device, dispatches.map { ($0.pipeline, $0.resources) })

        var info = VkCommandPoolCreateInfo()
        info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO
        info.queueFamilyIndex = device.queueFamily
        var pool: VkCommandPool?
        try call("vkCreateCommandPool", device.faults) { vkCreateCommandPool(device.handle, &info, nil, &pool) }
        guard let pool else { throw VulkanError("vkCreateCommandPool", .unavailable("no command pool")) }

        var barriers = 0
        do throws(VulkanError) {
            var allocation = VkCommandBufferAllocateInfo()
            allocation.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO
            allocation.commandPool = pool
            allocation.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY
            allocation.commandBufferCount = 1
            var made: VkCommandBuffer?
            try call("vkAllocateCommandBuffers", device.faults) {
                vkAllocateCommandBuffers(device.handle, &allocation, &made)
            }
            guard let made else { throw VulkanError("vkAllocateCommandBuffers", .unavailable("no command buffer")) }
            var begin = VkCommandBufferBeginInfo()
            begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO
            try call("vkBeginCommandBuffer", device.faults) { vkBeginCommandBuffer(made, &begin) }
            let steps = RecordedStep.sequence(for: commands)
            // The outer ones are no number's.
            barriers = steps.dropFirst().count { $0 == .deviceBarrier }
            Self.record(
                steps, of: commands, into: made, sets: sets.sets, timestamps, omittedBarrier, device.faults)
            try call("vkEndCommandBuffer", device.faults) { vkEndCommandBuffer(made) }
            handle = made
        } catch {
            vkDestroyCommandPool(device.handle, pool, nil)
            throw error
        }
        self.pool = pool
        dispatchCount = dispatches.count
        barrierCount = barriers
    }

    deinit { vkDestroyCommandPool(device.handle, pool, nil) }

    private static func record(
        _ steps: [RecordedStep], of commands: [Command], into buffer: VkCommandBuffer, sets: [VkDescriptorSet],
        _ timestamps: TimestampPool?, _ omittedBarrier: Int?, _ faults: FaultInjector?
    ) {
        func barrier(to: [Stage]) {
            faults?.note("vkCmdPipelineBarrier")
            Self.barrier(buffer, to: to)
        }
        var (barrierNumber, set) = (0, 0)
        for (place, step) in steps.enumerated() {
            switch step {
            case .deviceBarrier where place == 0:
                barrier(to: [.compute, .transfer])
                timestamps?.reset(in: buffer)
            case .deviceBarrier:
                if barrierNumber != omittedBarrier { barrier(to: [.compute, .transfer]) }
                barrierNumber += 1
            case .hostBarrier: barrier(to: [.host])
            case .command(let index):
                switch commands[index] {
                case .dispatch(let dispatch):
                    record(dispatch, into: buffer, sets[set])
                    set += 1
                case .copy(let from, let to):
                    precondition(from.byteCount == to.byteCount, "a copy between ranges of different length")
                    var region = VkBufferCopy(
                        srcOffset: VkDeviceSize(from.offset), dstOffset: VkDeviceSize(to.offset),
                        size: VkDeviceSize(from.byteCount))
                    vkCmdCopyBuffer(buffer, from.buffer.handle, to.buffer.handle, 1, &region)
                case .timestamp(let index): timestamps?.write(index, in: buffer)
                }
            }
        }
    }

    private static func record(
        _ dispatch: Command.Dispatch, into buffer: VkCommandBuffer, _ set: VkDescriptorSet
    ) {
        vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch.pipeline.handle)
        withUnsafePointer(to: Optional(set)) {
            vkCmdBindDescriptorSets(
                buffer, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch.pipeline.layout, 0, 1, $0, 0, nil)
        }
        if !dispatch.pushConstants.isEmpty {
            dispatch.pushConstants.withUnsafeBytes {
                vkCmdPushConstants(
                    buffer, dispatch.pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT.rawValue, 0,
                    UInt32($0.count), $0.baseAddress)
            }
        }
        vkCmdDispatch(
            buffer, UInt32(dispatch.workgroups.x), UInt32(dispatch.workgroups.y), UInt32(dispatch.workgroups.z))
    }

    /// Who must wait.
    private enum Stage { case compute, transfer, host }

    /// Everything before on the device is finished and seen by what comes after.
    private static func barrier(_ buffer: VkCommandBuffer, to: [Stage]) {
        var memory = VkMemoryBarrier()
        memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER
        memory.srcAccessMask =
            VK_ACCESS_SHADER_READ_BIT.rawValue | VK_ACCESS_SHADER_WRITE_BIT.rawValue
            | VK_ACCESS_TRANSFER_READ_BIT.rawValue | VK_ACCESS_TRANSFER_WRITE_BIT.rawValue
        memory.dstAccessMask =
            to.contains(.host)
            ? VK_ACCESS_HOST_READ_BIT.rawValue
            : VK_ACCESS_SHADER_READ_BIT.rawValue | VK_ACCESS_SHADER_WRITE_BIT.rawValue
                | VK_ACCESS_UNIFORM_READ_BIT.rawValue | VK_ACCESS_TRANSFER_READ_BIT.rawValue
                | VK_ACCESS_TRANSFER_WRITE_BIT.rawValue
        vkCmdPipelineBarrier(buffer, mask([.compute, .transfer]), mask(to), 0, 1, &memory, 0, nil, 0, nil)
    }

    private static func mask(_ stages: [Stage]) -> UInt32 {
        stages.reduce(0) { mask, stage in
            switch stage {
            case .compute: mask | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT.rawValue
            case .transfer: mask | VK_PIPELINE_STAGE_TRANSFER_BIT.rawValue
            case .host: mask | VK_PIPELINE_STAGE_HOST_BIT.rawValue
            }
        }
    }
}

extension Command.Dispatch {
    /// Checks what the driver would not.
    package func check(_ limits: DeviceLimits, of deviceName: String) throws(VulkanError) {
        func fail(_ reason: String) -> VulkanError {
            VulkanError("vkCmdDispatch", .unsupported("\(deviceName) cannot do \(name): \(reason)"))
        }
        for (count, limit) in zip([workgroups.x, workgroups.y, workgroups.z], limits.workgroupCount)
        where !(1...limit).contains(count) {
            throw fail("\(count) workgroups, of at most \(limit)")
        }
        guard pushConstants.count * 4 == pipeline.interface.pushConstantsByteCount,
            pushConstants.count * 4 <= limits.pushConstantsByteCount
        else { throw fail("\(pushConstants.count * 4) bytes of push constants") }
        for resource in resources {
            switch resource {
            case .storage(let range):
                guard range.byteCount <= limits.storageBufferRange else {
                    throw fail("a buffer of \(range.byteCount) bytes, of at most \(limits.storageBufferRange)")
                }
            case .texels(let view):
                guard view.texelCount <= limits.texelBufferElements else {
                    throw fail("\(view.texelCount) texels, of at most \(limits.texelBufferElements)")
                }
            case .uniform(let ranges):
                guard ranges.allSatisfy({ $0.byteCount <= limits.uniformBufferRange }) else {
                    throw fail("constants of more than \(limits.uniformBufferRange) bytes")
                }
            }
        }
    }
}
