import CVulkan

/// What a binding of a shader is bound to.
package enum Descriptor: Sendable {
    /// A buffer's range: for a storage buffer.
    case storage(BufferRange)
    /// A view: for a texel buffer.
    case texels(TexelBufferView)
    /// Ranges for an array of uniform blocks; a short list is filled up with its last range.
    case uniform([BufferRange])
}

/// The descriptor sets of many dispatches, made once and never changed.
final class DescriptorSets: @unchecked Sendable {
    private let device: LogicalDevice
    private let pool: VkDescriptorPool
    private(set) var sets: [VkDescriptorSet] = []
    /// Kept alive as long as they are bound.
    private let resources: [[Descriptor]]

    /// Creates one set for each pipeline and its resources.
    init(_ device: LogicalDevice, _ bindings: [(pipeline: Pipeline, resources: [Descriptor])]) throws(VulkanError) {
        self.device = device
        resources = bindings.map(\.resources)
        var counts: [UInt32: UInt32] = [:]
        for binding in bindings.flatMap(\.pipeline.interface.bindings) {
            counts[binding.vkType.rawValue, default: 0] += UInt32(binding.count)
        }
        let sizes = counts.sorted { $0.key < $1.key }.map {
            VkDescriptorPoolSize(type: VkDescriptorType(rawValue: $0.key), descriptorCount: $0.value)
        }
        var made: VkDescriptorPool?
        try sizes.withUnsafeBufferPointer { sizes throws(VulkanError) in
            var info = VkDescriptorPoolCreateInfo()
            info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO
            info.maxSets = UInt32(max(1, bindings.count))
            info.poolSizeCount = UInt32(sizes.count)
            info.pPoolSizes = sizes.baseAddress
            try call("vkCreateDescriptorPool", device.faults) {
                vkCreateDescriptorPool(device.handle, &info, nil, &made)
            }
        }
        guard let made else { throw VulkanError("vkCreateDescriptorPool", .unavailable("no descriptor pool")) }
        pool = made
        for (pipeline, resources) in bindings { sets.append(try makeSet(pipeline, resources)) }
    }

    deinit { vkDestroyDescriptorPool(device.handle, pool, nil) }

    private func makeSet(_ pipeline: Pipeline, _ resources: [Descriptor]) throws(VulkanError) -> VkDescriptorSet {
        let bindings = pipeline.interface.bindings
        precondition(bindings.count == resources.count, "\(resources.count) resources for \(bindings.count) bindings")
        var set: VkDescriptorSet?
        let pool = pool
        try withUnsafePointer(to: Optional(pipeline.setLayout)) { layout throws(VulkanError) in
            var info = VkDescriptorSetAllocateInfo()
            info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO
            info.descriptorPool = pool
            info.descriptorSetCount = 1
            info.pSetLayouts = layout
            try call("vkAllocateDescriptorSets", device.faults) {
                vkAllocateDescriptorSets(device.handle, &info, &set)
            }
        }
        guard let set else { throw VulkanError("vkAllocateDescriptorSets", .unavailable("no descriptor set")) }
        for (index, (binding, resource)) in zip(bindings, resources).enumerated() {
            write(resource, to: set, index, binding)
        }
        return set
    }

    private func write(
        _ resource: Descriptor, to set: VkDescriptorSet, _ index: Int, _ binding: DescriptorType
    ) {
        var write = VkWriteDescriptorSet()
        write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET
        write.dstSet = set
        write.dstBinding = UInt32(index)
        write.descriptorCount = UInt32(binding.count)
        write.descriptorType = binding.vkType
        func info(_ range: BufferRange) -> VkDescriptorBufferInfo {
            VkDescriptorBufferInfo(
                buffer: range.buffer.handle, offset: VkDeviceSize(range.offset), range: VkDeviceSize(range.byteCount))
        }
        switch (resource, binding) {
        case (.storage(let range), .storageBuffer):
            withUnsafePointer(to: info(range)) {
                write.pBufferInfo = $0
                vkUpdateDescriptorSets(device.handle, 1, &write, 0, nil)
            }
        case (.uniform(let ranges), .uniformBuffer(let count)):
            precondition(!ranges.isEmpty && ranges.count <= count, "\(ranges.count) ranges for \(count) blocks")
            let infos = (0..<count).map { info(ranges[min($0, ranges.count - 1)]) }
            infos.withUnsafeBufferPointer {
                write.pBufferInfo = $0.baseAddress
                vkUpdateDescriptorSets(device.handle, 1, &write, 0, nil)
            }
        case (.texels(let view), .texelBuffer):
            withUnsafePointer(to: Optional(view.handle)) {
                write.pTexelBufferView = $0
                vkUpdateDescriptorSets(device.handle, 1, &write, 0, nil)
            }
        default: preconditionFailure("binding \(index) is a \(binding), not a \(resource)")
        }
    }
}
