import VulkanCompute

/// A shader, its variant and its specialisation constants: what a pipeline is made from.
struct Kernel: Hashable, Sendable {
    /// Name of the shader file, without `.comp`.
    var shader: String
    /// The macros of the variant, as in `FLOAT16=0 ACCESS=2 TILE=4x2`.
    var variant: String
    /// Specialisation constants from 0 on; the first is the number of invocations in a workgroup.
    var constants: [UInt32]
    /// What it reads and writes.
    var interface: ShaderInterface

    /// The name that it is embedded under.
    var embeddedName: String { variant.isEmpty ? shader : "\(shader) \(variant)" }
}

/// Pipelines by kernel, each compiled once for a device.
final class PipelineStore: @unchecked Sendable {
    private let device: Device
    private let cache: PipelineCache
    private var pipelines: [Kernel: Pipeline] = [:]

    init(_ device: Device, cache: PipelineCache) {
        self.device = device
        self.cache = cache
    }

    /// The pipeline of a kernel.
    func pipeline(_ kernel: Kernel) throws(VulkanError) -> Pipeline {
        if let pipeline = pipelines[kernel] { return pipeline }
        let pipeline = try Pipeline(
            device, code: ShaderLibrary.shared.code(kernel.embeddedName), interface: kernel.interface,
            constants: kernel.constants, cache: cache, name: kernel.embeddedName)
        pipelines[kernel] = pipeline
        return pipeline
    }

    var count: Int { pipelines.count }
}
