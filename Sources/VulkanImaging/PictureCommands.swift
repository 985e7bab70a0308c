import VulkanBackend
import VulkanCompute

/// The dispatches of a frame around those of its network.
struct PictureCommands {
    /// What one binding of a dispatch is.
    enum Binding {
        case written(BufferRange)
        case read(BufferRange)
        /// A tensor that is read, in the way that the device reads best.
        case tensor(BufferRange)
        /// A table that never changes.
        case table(Descriptor)
    }

    let backend: VulkanBackend
    private(set) var commands: [Command] = []

    /// Invocations in a workgroup, and workgroups in a row of the grid: devices have at least 128 and 65,535.
    private static let localSize = 64
    private static let rowLength = 32_768

    init(_ backend: VulkanBackend) { self.backend = backend }

    mutating func append(_ more: [Command]) { commands += more }

    /// The FLOAT16 part of a variant's name.
    var precisionMacro: String { "FLOAT16=\(backend.precision == .float16 ? 1 : 0)" }
    /// How tensors are read.
    private var readPath: ReadPath { backend.readPath == .storage ? .storage : .texels }
    /// The variant of a shader that reads a tensor.
    var readingVariant: String { "\(precisionMacro) READ_PATH=\(readPath.rawValue)" }

    /// Adds a dispatch of one invocation for each of `count` indices and each picture.
    ///
    /// - Parameter constants: Specialisation constants from 1 on.
    mutating func dispatch(
        _ name: String, _ shader: String, variant: String, constants: [UInt32], _ bindings: [Binding],
        pushConstants: [Int], count: Int, batch: Int
    ) throws(VulkanError) {
        var types: [DescriptorType] = []
        var resources: [Descriptor] = []
        var (reads, writes): ([BufferRange], [BufferRange]) = ([], [])
        for binding in bindings {
            switch binding {
            case .written(let range):
                writes.append(range)
                types.append(.storageBuffer)
                resources.append(.storage(range))
            case .read(let range):
                reads.append(range)
                types.append(.storageBuffer)
                resources.append(.storage(range))
            case .tensor(let range):
                reads.append(range)
                types.append(readPath == .storage ? .storageBuffer : .texelBuffer)
                resources.append(
                    readPath == .storage
                        ? .storage(range) : .texels(try TexelBufferView(range, backend.precision.texelFormat)))
            case .table(let resource):
                types.append(.storageBuffer)
                resources.append(resource)
            }
        }
        let kernel = Kernel(
            shader: shader, variant: variant, constants: [UInt32(Self.localSize)] + constants,
            interface: ShaderInterface(bindings: types, pushConstantsByteCount: pushConstants.count * 4))
        let workgroups = (count + Self.localSize - 1) / Self.localSize
        commands.append(
            .dispatch(
                Command.Dispatch(
                    name: name, try backend.pipelines.pipeline(kernel), resources,
                    pushConstants: pushConstants.map { UInt32(truncatingIfNeeded: $0) },
                    workgroups: (
                        min(workgroups, Self.rowLength), (workgroups + Self.rowLength - 1) / Self.rowLength, batch
                    ),
                    reads: reads, writes: writes)))
    }
}
