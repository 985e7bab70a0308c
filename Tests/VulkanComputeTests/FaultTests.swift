import CVulkan
import DeviceSupport
import TestSupport
import Testing
import VulkanCompute

/// A small piece of work that makes every wrapped call: what is written, copied, dispatched, timed and read back.
private func work(_ instance: VulkanInstance) throws -> [UInt32] {
    let physical = try #require(try instance.physicalDevices().first)
    let device = try LogicalDevice(physical, instance: instance)
    let source = try Buffer.of([1, 2, 3, 4], device)
    let middle = try Buffer(device, byteCount: 16, .device)
    let texels = try Buffer(device, byteCount: 64, .device)
    let target = try Buffer(device, byteCount: 16, .readback)
    let view = try TexelBufferView(texels.all, .float32x4)
    let cache = PipelineCache(device)
    let scale = try TestShader.scale.pipeline(device, constants: [64, 2], cache: cache)
    let read = try TestShader.texels.pipeline(device, cache: cache)
    let stamps = try TimestampPool(device, count: 2)
    let recorded = try CommandBuffer(
        device,
        [
            .timestamp(index: 0), .scale(scale, source.all, to: middle.all),
            .dispatch(
                .init(
                    name: "texels", read, [.storage(texels.all), .texels(view)], pushConstants: [4],
                    workgroups: (1, 1, 1),
                    reads: [view.range], writes: [texels.all])),
            .copy(from: middle.all, to: target.all), .timestamp(index: 1),
        ], timestamps: stamps)
    let submission = try Submission(device)
    try submission.submit(recorded)
    try submission.wait(nanoseconds: 20_000_000_000)
    _ = try stamps?.intervals()
    try device.giveUp()
    return target.words
}

@Suite("Calls that fail", .serialized, .needsVulkan, .childProcess)
struct FaultTests {
    /// Every call that passes by the injector, and how often `work` makes it.
    private static let calls: [(name: String, count: Int)] = [
        ("vkEnumeratePhysicalDevices", 2), ("vkCreateDevice", 1), ("vkCreateBuffer", 4), ("vkAllocateMemory", 4),
        ("vkBindBufferMemory", 4), ("vkMapMemory", 2), ("vkCreateBufferView", 1), ("vkCreateDescriptorSetLayout", 2),
        ("vkCreatePipelineLayout", 2), ("vkCreateShaderModule", 2), ("vkCreateComputePipelines", 2),
        ("vkCreateQueryPool", 1), ("vkCreateDescriptorPool", 1), ("vkAllocateDescriptorSets", 2),
        ("vkCreateCommandPool", 1), ("vkAllocateCommandBuffers", 1), ("vkBeginCommandBuffer", 1),
        ("vkEndCommandBuffer", 1), ("vkCreateFence", 1), ("vkResetFences", 1), ("vkQueueSubmit", 1),
        ("vkWaitForFences", 1), ("vkGetQueryPoolResults", 1), ("vkDeviceWaitIdle", 1),
    ]

    @Test("Each is an error that names the call, each time it is made, and nothing is left behind", .needsValidation)
    func everyCall() throws {
        for (name, count) in Self.calls {
            for index in 0..<count {
                for result in [VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST] {
                    let faults = FaultInjector([.init(name, after: index, result: result.rawValue)])
                    let instance = try VulkanInstance(validation: true, faults: faults)
                    let error = #expect(throws: VulkanError.self, "\(name) \(index)") { _ = try work(instance) }
                    guard let error else { continue }
                    #expect(error.call.hasPrefix(name))
                    #expect(error.cause == .result(result.rawValue))
                    #expect(error.isDeviceLost == (result == VK_ERROR_DEVICE_LOST))
                    #expect("\(error)".contains(name) && !"\(error)".contains("\n"))
                    // Leaked objects are reported when their device goes, which it has.
                    #expect(instance.validationMessages == [], "\(name) \(index)")
                    // The next piece of work finds nothing in its way.
                    #expect(try work(instance) == [2, 4, 6, 8])
                }
            }
        }
    }

    @Test("The list of calls is complete: a fault one call later is never met")
    func counts() throws {
        for (name, count) in Self.calls {
            let faults = FaultInjector([
                .init(name, after: count, result: VK_ERROR_OUT_OF_HOST_MEMORY.rawValue)
            ])
            #expect(try work(try VulkanInstance(validation: false, faults: faults)) == [2, 4, 6, 8], "\(name)")
        }
    }

    @Test("An instance that cannot be made is an error")
    func instance() {
        for (result, words) in [
            (VK_ERROR_INCOMPATIBLE_DRIVER, "driver"), (VK_ERROR_LAYER_NOT_PRESENT, "layer"),
            (VK_ERROR_OUT_OF_HOST_MEMORY, "memory"),
        ] {
            let faults = FaultInjector([.init("vkCreateInstance", result: result.rawValue)])
            let error = #expect(throws: VulkanError.self) { try VulkanInstance(validation: false, faults: faults) }
            #expect("\(error.map { "\($0)" } ?? "")".contains(words))
        }
    }

    @Test("A pipeline cache that cannot be made is done without")
    func cache() throws {
        let faults = FaultInjector([
            .init("vkCreatePipelineCache", times: 2, result: VK_ERROR_OUT_OF_HOST_MEMORY.rawValue)
        ])
        let device = try TestDevice.open(faults: faults)
        let cache = PipelineCache(device, data: [1, 2, 3])
        #expect(cache.data == [])
        _ = try TestShader.scale.pipeline(device, constants: [64, 2], cache: cache)
    }

    @Test("A fence that is not signalled in time is its own error")
    func timeOut() throws {
        let faults = FaultInjector([.init("vkWaitForFences", result: VK_TIMEOUT.rawValue)])
        let error = #expect(throws: VulkanError.self) {
            _ = try work(try VulkanInstance(validation: false, faults: faults))
        }
        #expect(error?.cause == .timedOut)
        #expect(error?.isDeviceLost == true)
    }
}
