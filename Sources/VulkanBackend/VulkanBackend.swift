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
    private let chooser: (any VariantChooser)?

    /// How long a device may take for one run before it counts as lost.
    static let timeoutNanoseconds: UInt64 = 60_000_000_000

    /// Creates a backend on a device.
    ///
    /// - Parameters:
    ///   - precision: How activations are stored.
    ///   - cacheFolder: Where the driver's compiled shaders, and what is found out when tuning, are kept between runs; nil for
    ///     nowhere. A folder that cannot be used is done without.
    ///   - tuning: How much time goes into finding the fastest variants of the shaders. Results are the same, byte for byte.
    public convenience init(
        _ device: Device, precision: StoragePrecision = .float32, cacheFolder: String? = nil,
        tuning: TuningLevel = .off
    ) {
        self.init(device, precision: precision, shaders: .shared, cacheFolder: cacheFolder, tuning: tuning)
    }

    package convenience init(_ device: Device, precision: StoragePrecision, accessNumber: Int) {
        self.init(device, precision: precision, access: Access(rawValue: accessNumber) ?? .storage, chooser: nil)
    }

    /// A backend with shaders of the caller's.
    package convenience init(
        _ device: Device, precision: StoragePrecision, shaders: ShaderLibrary, cacheFolder: String? = nil,
        tuning: TuningLevel = .off
    ) {
        self.init(
            device, precision: precision, shaders: shaders, cacheFolder: cacheFolder,
            chooser: tuning == .off ? nil : Tuner(tuning, device, shaders: shaders, folder: cacheFolder))
    }

    /// A backend whose convolutions' variants somebody else chooses.
    package init(
        _ device: Device, precision: StoragePrecision, access: Access? = nil, shaders: ShaderLibrary = .shared,
        cacheFolder: String? = nil, chooser: (any VariantChooser)?
    ) {
        self.device = device
        self.precision = precision
        self.access = access ?? .best(for: device.physical.limits)
        self.chooser = chooser
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
        defer { pipelines.keep() }
        return try VulkanGraph(bind(graph, batch: batch))
    }

    /// Puts a graph into the device's memory.
    func bind(_ graph: Graph, batch: Int) throws(VulkanError) -> BoundPlan {
        try BoundPlan(
            DispatchPlan(graph, settings: settings(for: graph, batch: batch)), device: device, pipelines: pipelines)
    }

    /// Finds out how a graph's convolutions are computed best, unless that is known.
    func tune(_ graph: Graph, batch: Int) throws(VulkanError) { _ = try settings(for: graph, batch: batch) }

    /// What tuning has led to so far; nil where there is none.
    public var tuningSummary: TuningSummary? { (chooser as? Tuner)?.summary }

    private func settings(for graph: Graph, batch: Int) throws(VulkanError) -> PlanSettings {
        try graph.checkGroupedConvolutions()
        var settings = PlanSettings(batch: batch, precision: precision, access: access)
        if let chooser { settings.variants = try chooser.variants(for: graph, settings) }
        return settings
    }
}

extension Tuner {
    /// A tuner that measures on a device.
    ///
    /// - Parameter folder: Where it keeps what it has found; nil for nowhere. Other shaders than the project's are not kept.
    convenience init(_ level: TuningLevel, _ device: Device, shaders: ShaderLibrary, folder: String?) {
        let start = ContinuousClock.now
        self.init(
            level, limits: device.physical.limits,
            record: TuningRecord(
                folder: shaders.isShared ? folder : nil, identity: device.physical.cacheIdentity),
            shaderDigest: shaders.digest,
            now: { (ContinuousClock.now - start) / .seconds(1) },
            prepare: {
                // Most of what is measured is not wanted afterwards, and would fill the driver's cache.
                let pipelines = PipelineStore(device, shaders: shaders, folder: nil)
                return { alone, settings throws(VulkanError) in try LayerTimer(alone, settings, device, pipelines) }
            })
    }
}

extension Access {
    /// The way to read that is chosen without measuring.
    ///
    /// Weights in uniform blocks are left to tuning: the array of blocks is addressed by a number that the compiler does not
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
