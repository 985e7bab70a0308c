import ModelGraph
import VulkanCompute

/// Runs networks on a Vulkan device.
public final class VulkanBackend: InferenceBackend {
    /// The device.
    public let device: Device
    /// How activations are stored.
    public let precision: StoragePrecision
    let access: Access
    let pipelines: PipelineStore

    /// How long a device may take for one run before it counts as lost.
    static let timeoutNanoseconds: UInt64 = 60_000_000_000

    /// Creates a backend on a device.
    ///
    /// - Parameters:
    ///   - precision: How activations are stored.
    ///   - cacheFolder: Where the driver's compiled shaders are kept between runs; nil for nowhere. A folder that cannot be used
    ///     is done without.
    public convenience init(_ device: Device, precision: StoragePrecision = .float32, cacheFolder: String? = nil) {
        self.init(device, precision: precision, access: nil, cacheFolder: cacheFolder)
    }

    package convenience init(_ device: Device, precision: StoragePrecision, accessNumber: Int) {
        self.init(device, precision: precision, access: Access(rawValue: accessNumber) ?? .storage)
    }

    /// A backend with shaders of the caller's.
    package convenience init(
        _ device: Device, precision: StoragePrecision, shaders: ShaderLibrary, cacheFolder: String? = nil
    ) {
        self.init(device, precision: precision, access: nil, shaders: shaders, cacheFolder: cacheFolder)
    }

    init(
        _ device: Device, precision: StoragePrecision, access: Access?, shaders: ShaderLibrary = .shared,
        cacheFolder: String? = nil
    ) {
        self.device = device
        self.precision = precision
        self.access = access ?? .best(for: device.physical.limits)
        pipelines = PipelineStore(
            device, shaders: shaders, folder: cacheFolder.map { PipelineCacheFolder(path: $0) })
    }

    /// Keeps what the driver has compiled so far in the cache folder, for the next start.
    public func keepCompiledShaders() { pipelines.keep() }

    /// As in `llvmpipe (LLVM 15.0.6, 256 bits) (Vulkan, fp32)`.
    public var deviceName: String { "\(device.physical.name) (Vulkan, \(precision.rawValue))" }

    /// Prepares a graph for repeated runs.
    ///
    /// - Throws: `VulkanError` when the device has too little memory or cannot do a layer.
    public func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph {
        try graph.checkGroupedConvolutions()
        let plan = DispatchPlan(
            graph, settings: PlanSettings(batch: batch, precision: precision, access: access))
        defer { pipelines.keep() }
        return try VulkanGraph(BoundPlan(plan, device: device, pipelines: pipelines))
    }
}

extension Access {
    /// The way to read that is chosen without measuring.
    ///
    /// Weights in uniform blocks are never chosen: the array of blocks is addressed by a number that the compiler does not
    /// know, and llvmpipe then reads it lane by lane (363 ms a frame of the 257 network instead of 139).
    static func best(for limits: DeviceLimits) -> Access {
        // Enough for 513x513 and a batch of four; a plan with a larger tensor is refused by its dispatches' checks.
        limits.texelBufferElements >= 1 << 24 ? .texels : .storage
    }
}

extension VulkanBackend {
    /// How shaders would read activations and weights on a device with these limits, for people.
    public static func accessDescription(for limits: DeviceLimits) -> String {
        switch Access.best(for: limits) {
        case .storage: "activations and weights from storage buffers"
        case .texels: "activations and weights through the texture units"
        case .uniform: "activations through the texture units, weights from uniform blocks"
        }
    }
}
