import Base
import VulkanCompute

/// Pipelines by kernel, each compiled once for a device.
package final class PipelineStore: Sendable {
    private let device: LogicalDevice
    private let shaders: ShaderLibrary
    private let cache: PipelineCache
    private let folder: DeviceCacheFolder?
    private let state: Locked<State>

    private struct State {
        var pipelines: [Kernel: Pipeline] = [:]
        /// Whether pipelines have been compiled since the cache was kept last.
        var hasUnsavedPipelines = false
        /// Bytes of the cache as it was read or kept last.
        var savedByteCount: Int
    }

    /// - Parameter folder: Where what the driver has compiled is kept between runs; nil for nowhere.
    package init(_ device: LogicalDevice, shaders: ShaderLibrary = .shared, folder: DeviceCacheFolder?) {
        self.device = device
        self.shaders = shaders
        self.folder = folder
        let data = folder?.data(for: device.physical.cacheIdentity) ?? []
        cache = PipelineCache(device, data: data)
        state = Locked(State(savedByteCount: data.count))
    }

    package func pipeline(_ kernel: Kernel) throws(VulkanError) -> Pipeline {
        try state.withLock { state throws(VulkanError) in
            if let pipeline = state.pipelines[kernel] { return pipeline }
            let pipeline = try Pipeline(
                device, code: shaders.code(kernel.embeddedName), interface: kernel.interface,
                constants: kernel.constants, cache: cache, name: kernel.embeddedName)
            state.pipelines[kernel] = pipeline
            state.hasUnsavedPipelines = true
            return pipeline
        }
    }

    /// Keeps what the driver has compiled for the next run, where it is more than what is kept already.
    func save() {
        guard let folder else { return }
        state.withLock { state in
            guard state.hasUnsavedPipelines else { return }
            state.hasUnsavedPipelines = false
            let data = cache.data
            guard data.count > state.savedByteCount else { return }
            folder.store(data, for: device.physical.cacheIdentity)
            state.savedByteCount = data.count
        }
    }
}
