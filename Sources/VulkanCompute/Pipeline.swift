import CVulkan

/// What a binding is in a shader.
package enum DescriptorType: Hashable, Sendable {
    /// A buffer that is read or written by address.
    case storageBuffer
    /// A buffer that is read through the texture units.
    case texelBuffer
    /// Blocks of constants, as many as the array in the shader has.
    case uniformBuffer(count: Int)

    var vkType: VkDescriptorType {
        switch self {
        case .storageBuffer: VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
        case .texelBuffer: VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
        case .uniformBuffer: VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
        }
    }

    var count: Int {
        if case .uniformBuffer(let count) = self { count } else { 1 }
    }
}

/// What a shader reads and writes: its bindings 0, 1, 2 ... of set 0, and its push constants.
package struct ShaderInterface: Hashable, Sendable {
    package var bindings: [DescriptorType]
    /// A multiple of 4.
    package var pushConstantsByteCount: Int

    package init(bindings: [DescriptorType], pushConstantsByteCount: Int) {
        self.bindings = bindings
        self.pushConstantsByteCount = pushConstantsByteCount
    }

    /// Why a device cannot run such a shader; nil where it can. A driver need not notice.
    package func obstacle(_ limits: DeviceLimits) -> String? {
        let storageBuffers = bindings.count { $0 == .storageBuffer }
        let texelBuffers = bindings.count { $0 == .texelBuffer }
        let uniformBuffers = bindings.reduce(0) { if case .uniformBuffer(let count) = $1 { $0 + count } else { $0 } }
        for (count, limit, noun) in [
            (storageBuffers, limits.storageBuffersPerStage, "storage buffers"),
            (texelBuffers, limits.sampledImagesPerStage, "texel buffers"),
            (uniformBuffers, limits.uniformBuffersPerStage, "uniform buffers"),
            (pushConstantsByteCount, limits.pushConstantsByteCount, "bytes of push constants"),
        ] where count > limit { return "it needs \(count) \(noun), of at most \(limit)" }
        return nil
    }
}

/// A shader with its specialisation constants, compiled for a device.
package final class Pipeline: @unchecked Sendable {
    package let interface: ShaderInterface
    let device: LogicalDevice
    let handle: VkPipeline
    let layout: VkPipelineLayout
    let setLayout: VkDescriptorSetLayout

    /// Compiles a shader.
    ///
    /// - Parameters:
    ///   - code: SPIR-V, in words.
    ///   - constants: Specialisation constants 0, 1, 2 ...: integers, or bits of floats.
    ///   - name: The shader's name, for errors.
    /// - Throws: `VulkanError` when the driver cannot compile it.
    package init(
        _ device: LogicalDevice, code: [UInt32], interface: ShaderInterface, constants: [UInt32], cache: PipelineCache?,
        name: String
    ) throws(VulkanError) {
        if let obstacle = interface.obstacle(device.physical.limits) {
            throw VulkanError(
                "vkCreatePipelineLayout",
                .unsupported("\(device.physical.name) cannot run the shader \(name): \(obstacle)"))
        }
        self.device = device
        self.interface = interface
        var made = Objects()
        do throws(VulkanError) {
            try made.create(device, code: code, interface: interface, constants: constants, cache: cache)
        } catch {
            made.destroy(device)
            throw VulkanError("\(error.call) (shader \(name))", error.cause)
        }
        vkDestroyShaderModule(device.handle, made.module, nil)
        // All four exist where nothing was thrown.
        handle = made.pipeline!
        layout = made.layout!
        setLayout = made.setLayout!
    }

    deinit {
        vkDestroyPipeline(device.handle, handle, nil)
        vkDestroyPipelineLayout(device.handle, layout, nil)
        vkDestroyDescriptorSetLayout(device.handle, setLayout, nil)
    }

    /// The objects on the way to a pipeline.
    private struct Objects {
        var module: VkShaderModule?
        var setLayout: VkDescriptorSetLayout?
        var layout: VkPipelineLayout?
        var pipeline: VkPipeline?

        mutating func create(
            _ device: LogicalDevice, code: [UInt32], interface: ShaderInterface, constants: [UInt32],
            cache: PipelineCache?
        ) throws(VulkanError) {
            let faults = device.faults
            let handle = device.handle

            let bindings = interface.bindings.enumerated().map { index, binding in
                var info = VkDescriptorSetLayoutBinding()
                info.binding = UInt32(index)
                info.descriptorType = binding.vkType
                info.descriptorCount = UInt32(binding.count)
                info.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT.rawValue
                return info
            }
            var setLayout: VkDescriptorSetLayout?
            try bindings.withUnsafeBufferPointer { bindings throws(VulkanError) in
                var info = VkDescriptorSetLayoutCreateInfo()
                info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO
                info.bindingCount = UInt32(bindings.count)
                info.pBindings = bindings.baseAddress
                try call("vkCreateDescriptorSetLayout", faults) {
                    vkCreateDescriptorSetLayout(handle, &info, nil, &setLayout)
                }
            }
            self.setLayout = setLayout

            var push = VkPushConstantRange()
            push.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT.rawValue
            push.size = UInt32(interface.pushConstantsByteCount)
            var layout: VkPipelineLayout?
            try withUnsafePointer(to: setLayout) { setLayout throws(VulkanError) in
                try withUnsafePointer(to: push) { push throws(VulkanError) in
                    var info = VkPipelineLayoutCreateInfo()
                    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO
                    info.setLayoutCount = 1
                    info.pSetLayouts = setLayout
                    info.pushConstantRangeCount = push.pointee.size > 0 ? 1 : 0
                    info.pPushConstantRanges = push
                    try call("vkCreatePipelineLayout", faults) {
                        vkCreatePipelineLayout(handle, &info, nil, &layout)
                    }
                }
            }
            self.layout = layout

            var module: VkShaderModule?
            try code.withUnsafeBufferPointer { code throws(VulkanError) in
                var info = VkShaderModuleCreateInfo()
                info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO
                info.codeSize = code.count * 4
                info.pCode = code.baseAddress
                try call("vkCreateShaderModule", faults) { vkCreateShaderModule(handle, &info, nil, &module) }
            }
            self.module = module

            let entries = constants.indices.map {
                VkSpecializationMapEntry(constantID: UInt32($0), offset: UInt32($0 * 4), size: 4)
            }
            var pipeline: VkPipeline?
            try entries.withUnsafeBufferPointer { entries throws(VulkanError) in
                try constants.withUnsafeBufferPointer { constants throws(VulkanError) in
                    var specialization = VkSpecializationInfo()
                    specialization.mapEntryCount = UInt32(entries.count)
                    specialization.pMapEntries = entries.baseAddress
                    specialization.dataSize = constants.count * 4
                    specialization.pData = UnsafeRawPointer(constants.baseAddress)
                    try withUnsafePointer(to: specialization) { specialization throws(VulkanError) in
                        try "main".withEntryPoint { entryPoint throws(VulkanError) in
                            var info = VkComputePipelineCreateInfo()
                            info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO
                            info.layout = layout
                            info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO
                            info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT
                            info.stage.module = module
                            info.stage.pName = entryPoint
                            info.stage.pSpecializationInfo = specialization
                            try call("vkCreateComputePipelines", faults) {
                                vkCreateComputePipelines(handle, cache?.handle, 1, &info, nil, &pipeline)
                            }
                        }
                    }
                }
            }
            self.pipeline = pipeline
        }

        func destroy(_ device: LogicalDevice) {
            vkDestroyPipeline(device.handle, pipeline, nil)
            vkDestroyShaderModule(device.handle, module, nil)
            vkDestroyPipelineLayout(device.handle, layout, nil)
            vkDestroyDescriptorSetLayout(device.handle, setLayout, nil)
        }
    }
}

extension String {
    /// The string as C sees it. (`withCString` does not carry typed errors.)
    fileprivate func withEntryPoint(_ body: (UnsafePointer<CChar>) throws(VulkanError) -> Void) throws(VulkanError) {
        let characters = utf8CString
        try characters.withUnsafeBufferPointer { buffer throws(VulkanError) in
            guard let base = buffer.baseAddress else { return }
            try body(base)
        }
    }
}
