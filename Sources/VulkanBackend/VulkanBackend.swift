import ModelGraph
import VulkanCompute

/// Runs networks on a Vulkan device.
package final class VulkanBackend: InferenceBackend {
    package let device: LogicalDevice
    package let precision: StoragePrecision
    package let readPath: ReadPath
    package let pipelines: PipelineStore
    private let chooser: (any VariantChooser)?

    /// How long a device may take for one run before it counts as lost.
    static let timeoutNanoseconds: UInt64 = 60_000_000_000

    /// - Parameters:
    ///   - precision: How activations are stored.
    ///   - cacheFolder: Where the driver's compiled shaders, and what is found out when tuning, are kept between runs; nil for
    ///     nowhere. A folder that cannot be used is done without.
    ///   - tuning: How much time goes into finding the fastest variants of the shaders. Results are the same, byte for byte.
    package convenience init(
        _ device: LogicalDevice, precision: StoragePrecision = .float32, cacheFolder: String? = nil,
        tuning: TuningLevel = .off
    ) {
        self.init(device, precision: precision, shaders: .shared, cacheFolder: cacheFolder, tuning: tuning)
    }

    /// A backend with shaders of the caller's.
    package convenience init(
        _ device: LogicalDevice, precision: StoragePrecision, shaders: ShaderLibrary, cacheFolder: String? = nil,
        tuning: TuningLevel = .off
    ) {
        self.init(
            device, precision: precision, shaders: shaders, cacheFolder: cacheFolder,
            chooser: tuning == .off ? nil : Tuner(tuning, device, shaders: shaders, folder: cacheFolder))
    }

    /// A backend whose convolutions' variants somebody else chooses.
    package init(
        _ device: LogicalDevice, precision: StoragePrecision, readPath: ReadPath? = nil,
        shaders: ShaderLibrary = .shared,
        cacheFolder: String? = nil, chooser: (any VariantChooser)?
    ) {
        self.device = device
        self.precision = precision
        self.readPath = readPath ?? .best(for: device.physical.limits)
        self.chooser = chooser
        pipelines = PipelineStore(
            device, shaders: shaders, folder: cacheFolder.map { DeviceCacheFolder(path: $0) })
    }

    /// Keeps what the driver has compiled so far in the cache folder, for the next start.
    package func saveCompiledShaders() { pipelines.save() }

    /// As in `llvmpipe (LLVM 15.0.6, 256 bits) (Vulkan, fp32)`.
    package var deviceName: String { "\(device.physical.name) (Vulkan, \(precision.rawValue))" }

    /// Prepares a graph for repeated runs.
    ///
    /// - Throws: `VulkanError` when the device has too little memory or cannot do a layer.
    package func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph {
        defer { pipelines.save() }
        return try VulkanGraph(bind(graph, batch: batch))
    }

    /// Puts a graph into the device's memory.
    package func bind(_ graph: Graph, batch: Int) throws(VulkanError) -> BoundPlan {
        try BoundPlan(
            DispatchPlan(graph, settings: settings(for: graph, batch: batch)), device: device, pipelines: pipelines)
    }

    /// Finds out how a graph's convolutions are computed best, unless that is known.
    package func tune(_ graph: Graph, batch: Int) throws(VulkanError) { _ = try settings(for: graph, batch: batch) }

    /// What tuning has led to so far; nil where there is none.
    package var tuningSummary: TuningSummary? { (chooser as? Tuner)?.summary }

    private func settings(for graph: Graph, batch: Int) throws(VulkanError) -> PlanSettings {
        try graph.checkGroupedConvolutions()
        var settings = PlanSettings(batch: batch, precision: precision, readPath: readPath)
        if let chooser { settings.variants = try chooser.variants(for: graph, settings) }
        return settings
    }
}

extension Tuner {
    /// A tuner that measures on a device.
    ///
    /// - Parameter folder: Where it keeps what it has found; nil for nowhere. Other shaders than the project's are not kept.
    convenience init(_ level: TuningLevel, _ device: LogicalDevice, shaders: ShaderLibrary, folder: String?) {
        let start = ContinuousClock.now
        self.init(
            level, limits: device.physical.limits,
            record: TuningRecord(
                folder: shaders.isBuiltIn ? folder : nil, identity: device.physical.cacheIdentity),
            shaderDigest: shaders.digest,
            now: { (ContinuousClock.now - start) / .seconds(1) },
            prepare: {
                // Most of what is measured is not wanted afterwards, and would fill the driver's cache.
                let pipelines = PipelineStore(device, shaders: shaders, folder: nil)
                return { alone, settings throws(VulkanError) in try LayerTimer(alone, settings, device, pipelines) }
            })
    }
}

extension ReadPath {
    /// The way to read that is chosen without measuring.
    ///
    /// Weights in uniform blocks are left to tuning: the array of blocks is addressed by a number that the compiler does not
    /// know, and llvmpipe then reads it lane by lane (363 ms a frame of the 257 network instead of 139).
    static func best(for limits: DeviceLimits) -> ReadPath {
        // Enough for 513x513 and a batch of four; a plan with a larger tensor is refused by its dispatches' checks.
        limits.texelBufferElements >= 1 << 24 ? .texels : .storage
    }
}

extension VulkanBackend {
    /// How shaders would read activations and weights on a device with these limits, for people.
    package static func readPathDescription(for limits: DeviceLimits) -> String {
        switch ReadPath.best(for: limits) {
        case .storage: "activations and weights from storage buffers"
        case .texels: "activations and weights through the texture units"
        case .uniform: "activations through the texture units, weights from uniform blocks"
        }
    }
}
