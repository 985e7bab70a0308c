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
    public convenience init(_ device: Device, precision: StoragePrecision = .float32) throws(VulkanError) {
        self.init(device, precision: precision, access: nil)
    }

    package init(_ device: Device, precision: StoragePrecision, accessNumber: Int) {
        self.device = device
        self.precision = precision
        access = Access(rawValue: accessNumber) ?? .storage
        pipelines = PipelineStore(device, cache: PipelineCache(device))
    }

    init(_ device: Device, precision: StoragePrecision, access: Access?) {
        self.device = device
        self.precision = precision
        self.access = access ?? .best(for: device.physical.limits)
        pipelines = PipelineStore(device, cache: PipelineCache(device))
    }

    /// As in `llvmpipe (LLVM 15.0.6, 256 bits) (Vulkan, fp32)`.
    public var deviceName: String { "\(device.physical.name) (Vulkan, \(precision.rawValue))" }

    /// Prepares a graph for repeated runs.
    ///
    /// - Throws: `VulkanError` when the device has too little memory or cannot do a layer.
    public func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph {
        let plan = DispatchPlan(
            graph, settings: PlanSettings(batch: batch, precision: precision, access: access))
        return try VulkanGraph(BoundPlan(plan, device: device, pipelines: pipelines))
    }
}

extension Access {
    /// The best way to read that a device has for the networks at hand.
    static func best(for limits: DeviceLimits) -> Access {
        guard limits.texelBufferElements >= 1 << 24 else { return .storage }
        let hasUniformBlocks =
            limits.uniformBufferRange >= WeightBlocks.byteCount && limits.uniformBuffersPerStage >= WeightBlocks.count
        return hasUniformBlocks ? .uniform : .texels
    }
}
