import CVulkan

/// Pipelines that the driver has compiled before.
package final class PipelineCache: @unchecked Sendable {
    let device: LogicalDevice
    let handle: VkPipelineCache?

    /// Creates a cache from earlier data; data that the driver refuses is as good as none.
    package init(_ device: LogicalDevice, data: [UInt8] = []) {
        self.device = device
        var made: VkPipelineCache?
        func create(_ bytes: UnsafeRawBufferPointer?) -> Bool {
            var info = VkPipelineCacheCreateInfo()
            info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO
            info.initialDataSize = bytes?.count ?? 0
            info.pInitialData = bytes?.baseAddress
            let result =
                device.faults?.result(of: "vkCreatePipelineCache")
                ?? vkCreatePipelineCache(device.handle, &info, nil, &made)
            return result == VK_SUCCESS
        }
        if !data.withUnsafeBytes({ create(data.isEmpty ? nil : $0) }) && !create(nil) { made = nil }
        handle = made
    }

    deinit {
        if let handle { vkDestroyPipelineCache(device.handle, handle, nil) }
    }

    /// What to keep for the next time; empty where the driver gives nothing.
    package var data: [UInt8] {
        guard let handle else { return [] }
        var count = 0
        guard vkGetPipelineCacheData(device.handle, handle, &count, nil) == VK_SUCCESS, count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let result = bytes.withUnsafeMutableBytes {
            vkGetPipelineCacheData(device.handle, handle, &count, $0.baseAddress)
        }
        guard result == VK_SUCCESS else { return [] }
        return Array(bytes.prefix(count))
    }
}
