import ModelGraph
import VulkanCompute

/// A plan in a device's memory: the constants uploaded, a place in one arena for every tensor, the pipelines compiled.
package final class BoundPlan: Sendable {
    package let plan: DispatchPlan
    package let device: LogicalDevice
    /// Holds all tensors.
    package let arena: Buffer
    /// The dispatches of the network, in order.
    package let commands: [Command]
    private let constants: [BoundConstant]
    private let ranges: [Int: BufferRange]

    /// Bytes of one tensor: all blocks of all pictures.
    static func byteCount(_ shape: Shape, _ settings: PlanSettings) -> Int {
        (shape.channels + 3) / 4 * shape.pixelCount * settings.batch * settings.precision.blockByteCount
    }

    init(_ plan: DispatchPlan, device: LogicalDevice, pipelines: PipelineStore) throws(VulkanError) {
        self.plan = plan
        self.device = device
        let graph = plan.graph
        let lifetimes = graph.lifetimes
        let ids = graph.inputs + graph.layers.map(\.output)
        let memory = MemoryPlan(
            ids.map { id in
                MemoryRequest(
                    byteCount: Self.byteCount(graph.shape(of: id), plan.settings),
                    first: lifetimes[id.index].lowerBound, last: lifetimes[id.index].upperBound)
            }, alignment: device.physical.limits.bindingAlignment)
        let arena = try Buffer(device, byteCount: max(memory.byteCount, 64), .device)
        self.arena = arena
        var ranges: [Int: BufferRange] = [:]
        for (id, offset) in zip(ids, memory.offsets) {
            ranges[id.index] = arena.range(offset, Self.byteCount(graph.shape(of: id), plan.settings))
        }
        self.ranges = ranges
        constants = try BoundConstant.upload(plan.constants, to: device)

        var views: [Int: TexelBufferView] = [:]
        var commands: [Command] = []
        for dispatch in plan.dispatches {
            let pipeline = try pipelines.pipeline(dispatch.kernel)
            var resources: [Descriptor] = []
            var (reads, writes): ([BufferRange], [BufferRange]) = ([], [])
            for (planned, binding) in zip(dispatch.bindings, dispatch.kernel.interface.bindings) {
                func read(_ id: TensorID) throws(VulkanError) -> Descriptor {
                    guard let range = ranges[id.index] else { preconditionFailure("a tensor without memory") }
                    guard binding == .texelBuffer else { return .storage(range) }
                    if let view = views[id.index] { return .texels(view) }
                    let view = try TexelBufferView(range, plan.settings.precision.texelFormat)
                    views[id.index] = view
                    return .texels(view)
                }
                switch planned {
                case .destination(let id):
                    guard let range = ranges[id.index] else { preconditionFailure("a tensor without memory") }
                    resources.append(.storage(range))
                    writes.append(range)
                case .source(let id):
                    resources.append(try read(id))
                    if let range = ranges[id.index] { reads.append(range) }
                case .unused:
                    // Every binding must be bound; the first source is at hand.
                    guard case .source(let id) = dispatch.bindings[1] else { preconditionFailure("no source") }
                    resources.append(try read(id))
                case .weights(let index), .table(let index): resources.append(constants[index].resource)
                }
            }
            commands.append(
                .dispatch(
                    Command.Dispatch(
                        name: dispatch.layer, pipeline, resources, pushConstants: dispatch.pushConstants,
                        workgroups: dispatch.workgroups, reads: reads, writes: writes)))
        }
        self.commands = commands
    }

    package func range(_ id: TensorID) -> BufferRange {
        guard let range = ranges[id.index] else { preconditionFailure("a tensor without memory") }
        return range
    }
}

/// A constant in a device's memory.
package struct BoundConstant: Sendable {
    package let resource: Descriptor

    /// Uploads constants into one buffer, through a staging buffer that goes away again.
    package static func upload(_ constants: [PlannedConstant], to device: LogicalDevice) throws(VulkanError)
        -> [BoundConstant]
    {
        guard !constants.isEmpty else { return [] }
        var layout = ArenaLayout(alignment: device.physical.limits.bindingAlignment)
        let offsets = constants.map { layout.reserve($0.words.count * 4) }
        let staging = try Buffer(device, byteCount: layout.byteCount, .upload)
        let buffer = try Buffer(device, byteCount: layout.byteCount, .device)
        for (constant, offset) in zip(constants, offsets) {
            constant.words.withUnsafeBytes {
                staging.contents?.advanced(by: offset).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
            }
        }
        let copy = try CommandBuffer(device, [.copy(from: staging.all, to: buffer.all)])
        let submission = try Submission(device)
        try submission.submit(copy)
        try submission.wait(nanoseconds: VulkanBackend.timeoutNanoseconds)

        var bound: [BoundConstant] = []
        for (constant, offset) in zip(constants, offsets) {
            let range = buffer.range(offset, constant.words.count * 4)
            switch constant.layout {
            case .uniformBlocks(let slices):
                bound.append(
                    BoundConstant(
                        resource: .uniform(
                            (0..<slices).map {
                                buffer.range(offset + $0 * WeightBlocks.byteCount, WeightBlocks.byteCount)
                            })))
            case .weights(let readPath):
                bound.append(
                    BoundConstant(
                        resource: readPath == .texels
                            ? .texels(try TexelBufferView(range, .float32x4)) : .storage(range)))
            case .table: bound.append(BoundConstant(resource: .storage(range)))
            }
        }
        return bound
    }
}
