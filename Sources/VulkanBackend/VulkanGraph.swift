import ModelGraph
import VulkanCompute

/// A graph whose device has a clock of its own.
package protocol DeviceTimedGraph: CompiledGraph {
    /// How long the device worked on the last run, copies from and to the host included; nil where it takes no time stamps.
    func deviceSeconds() throws -> Double?
}

/// A graph that is ready to run on a Vulkan device: one recorded sequence of copies and dispatches.
final class VulkanGraph: DeviceTimedGraph, @unchecked Sendable {
    let graph: Graph
    let batch: Int
    var arenaByteCount: Int { bound.arena.byteCount }

    private let bound: BoundPlan
    private let uploads, readbacks: StagingBuffer
    private let commands: CommandBuffer
    private let wholeRun: TimestampPool?
    private let submission: Submission
    private var timed: (commands: CommandBuffer, stamps: TimestampPool)?

    init(_ bound: BoundPlan) throws(VulkanError) {
        self.bound = bound
        graph = bound.plan.graph
        batch = bound.plan.settings.batch
        uploads = try StagingBuffer(bound, graph.inputs, .upload)
        readbacks = try StagingBuffer(bound, graph.outputs, .readback)
        wholeRun = try TimestampPool(bound.device, count: 2)
        let sequence = uploads.commands + bound.commands + readbacks.commands
        commands = try CommandBuffer(
            bound.device, wholeRun == nil ? sequence : [.timestamp(index: 0)] + sequence + [.timestamp(index: 1)],
            timestamps: wholeRun)
        submission = try Submission(bound.device)
    }

    func run(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) throws {
        try run(commands, inputs, outputs)
    }

    func deviceSeconds() throws -> Double? { try wholeRun?.intervals().first }

    func profile(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) throws
        -> [Double]
    {
        let (commands, stamps) = try timedCommands()
        try run(commands, inputs, outputs)
        guard let stamps else { return [Double](repeating: .nan, count: graph.layers.count) }
        let intervals = try stamps.intervals()
        // A layer may be several dispatches, which follow one another.
        var seconds: [String: Double] = [:]
        for (dispatch, interval) in zip(bound.plan.dispatches, intervals) {
            seconds[dispatch.layer, default: 0] += interval
        }
        return graph.layers.map { seconds[$0.name] ?? 0 }
    }

    private func timedCommands() throws(VulkanError) -> (CommandBuffer, TimestampPool?) {
        if let timed { return (timed.commands, timed.stamps) }
        guard let stamps = try TimestampPool(bound.device, count: bound.commands.count + 1) else {
            return (commands, nil)
        }
        var sequence: [Command] = [.timestamp(index: 0)]
        for (index, command) in bound.commands.enumerated() { sequence += [command, .timestamp(index: index + 1)] }
        let recorded = try CommandBuffer(
            bound.device, uploads.commands + sequence + readbacks.commands, timestamps: stamps)
        timed = (recorded, stamps)
        return (recorded, stamps)
    }

    private func run(
        _ commands: CommandBuffer, _ inputs: [UnsafeBufferPointer<Float>],
        _ outputs: [UnsafeMutableBufferPointer<Float>]
    ) throws(VulkanError) {
        uploads.write(inputs)
        try submission.submit(commands)
        try submission.wait(nanoseconds: VulkanBackend.timeoutNanoseconds)
        readbacks.read(into: outputs)
    }
}

/// A buffer that the host sees, for tensors on their way to the device or back.
private final class StagingBuffer: Sendable {
    /// The copies between the staging buffer and the arena.
    let commands: [Command]
    private let buffer: Buffer
    private let tensors: [(layout: BlockedTensor, offset: Int)]

    init(_ bound: BoundPlan, _ ids: [TensorID], _ placement: Buffer.Placement) throws(VulkanError) {
        let settings = bound.plan.settings
        var layout = ArenaLayout(alignment: bound.device.physical.limits.bindingAlignment)
        let tensors = ids.map { id in
            let shape = bound.plan.graph.shape(of: id)
            return (
                layout: BlockedTensor(shape, batch: settings.batch, settings.precision),
                offset: layout.reserve(BoundPlan.byteCount(shape, settings))
            )
        }
        let buffer = try Buffer(bound.device, byteCount: max(layout.byteCount, 64), placement)
        self.tensors = tensors
        self.buffer = buffer
        commands = zip(ids, tensors).map { id, tensor in
            let inArena = bound.range(id)
            let staged = buffer.range(tensor.offset, inArena.byteCount)
            return placement == .upload ? .copy(from: staged, to: inArena) : .copy(from: inArena, to: staged)
        }
    }

    func write(_ values: [UnsafeBufferPointer<Float>]) {
        precondition(values.count == tensors.count, "a buffer for each input")
        for (values, tensor) in zip(values, tensors) {
            guard let contents = buffer.contents else { continue }
            tensor.layout.write(values, to: contents + tensor.offset)
        }
    }

    func read(into values: [UnsafeMutableBufferPointer<Float>]) {
        precondition(values.count == tensors.count, "a buffer for each output")
        for (values, tensor) in zip(values, tensors) {
            guard let contents = buffer.contents else { continue }
            tensor.layout.read(contents + tensor.offset, into: values)
        }
    }
}

/// The layout of an activation on a device: `[block of 4 channels][picture][pixel][lane]`. ncnn calls it pack4, MNN NC4HW4.
struct BlockedTensor: Sendable {
    let shape: Shape
    let batch: Int
    let precision: StoragePrecision

    init(_ shape: Shape, batch: Int, _ precision: StoragePrecision) {
        self.shape = shape
        self.batch = batch
        self.precision = precision
    }

    /// Writes `[picture][pixel][channel]` in this layout, zeros past the last channel.
    func write(_ values: UnsafeBufferPointer<Float>, to memory: UnsafeMutableRawPointer) {
        precondition(values.count == batch * shape.elementCount, "\(values.count) values for \(batch) x \(shape)")
        let pixels = shape.pixelCount * batch
        for block in 0..<(shape.channels + 3) / 4 {
            let lanes = min(4, shape.channels - block * 4)
            for pixel in 0..<pixels {
                let place = (block * pixels + pixel) * 4
                for lane in 0..<4 {
                    let value = lane < lanes ? values[pixel * shape.channels + block * 4 + lane] : 0
                    if precision == .float32 {
                        memory.storeBytes(of: value, toByteOffset: (place + lane) * 4, as: Float.self)
                    } else {
                        memory.storeBytes(of: halfBits(of: value), toByteOffset: (place + lane) * 2, as: UInt16.self)
                    }
                }
            }
        }
    }

    /// Reads this layout as `[picture][pixel][channel]`.
    func read(_ memory: UnsafeRawPointer, into values: UnsafeMutableBufferPointer<Float>) {
        precondition(values.count == batch * shape.elementCount, "\(values.count) values for \(batch) x \(shape)")
        let pixels = shape.pixelCount * batch
        for block in 0..<(shape.channels + 3) / 4 {
            let lanes = min(4, shape.channels - block * 4)
            for pixel in 0..<pixels {
                let place = (block * pixels + pixel) * 4
                for lane in 0..<lanes {
                    values[pixel * shape.channels + block * 4 + lane] =
                        precision == .float32
                        ? memory.load(fromByteOffset: (place + lane) * 4, as: Float.self)
                        : float(fromHalf: memory.load(fromByteOffset: (place + lane) * 2, as: UInt16.self))
                }
            }
        }
    }
}
