import Base
import VulkanCompute

/// Pipelines by kernel, each compiled once for a device.
package final class PipelineStore: Sendable {
    private let device: LogicalDevice
    private let shaders: ShaderLibrary
    private let cache: PipelineCache
    private let folder: PipelineCacheFolder?
    private let state: Locked<State>

    private struct State {
        var pipelines: [Kernel: Pipeline] = [:]
        /// Whether pipelines have been compiled since the cache was kept last.
        var hasNews = false
        /// Bytes of the cache as it was read or kept last.
        var keptByteCount: Int
    }

    /// Creates a store.
    ///
    /// - Parameter folder: Where what the driver has compiled is kept between runs; nil for nowhere.
    init(_ device: LogicalDevice, shaders: ShaderLibrary = .shared, folder: PipelineCacheFolder?) {
        self.device = device
        self.shaders = shaders
        self.folder = folder
        let data = folder?.data(for: device.physical.cacheIdentity) ?? []
        cache = PipelineCache(device, data: data)
        state = Locked(State(keptByteCount: data.count))
    }

    /// The pipeline of a kernel.
    package func pipeline(_ kernel: Kernel) throws(VulkanError) -> Pipeline {
        try state.withLock { state throws(VulkanError) in
            if let pipeline = state.pipelines[kernel] { return pipeline }
            let pipeline = try Pipeline(
                device, code: shaders.code(kernel.embeddedName), interface: kernel.interface,
                constants: kernel.constants, cache: cache, name: kernel.embeddedName)
            state.pipelines[kernel] = pipeline
            state.hasNews = true
            return pipeline
        }
    }

    /// Keeps what the driver has compiled for the next run, where it is more than what is kept already.
    func keep() {
        guard let folder else { return }
        state.withLock { state in
            guard state.hasNews else { return }
            state.hasNews = false
            let data = cache.data
            guard data.count > state.keptByteCount else { return }
            folder.store(data, for: device.physical.cacheIdentity)
            state.keptByteCount = data.count
        }
    }
}
