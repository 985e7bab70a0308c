import Glibc
import ModelGraph
import VulkanCompute

/// Runs one convolution alone, on scratch memory, in one variant after another.
package final class LayerTimer: LayerTiming {
    private let alone: Graph
    private let shape: ConvolutionShape
    private let settings: PlanSettings
    private let device: LogicalDevice
    private let pipelines: PipelineStore
    /// What tensors are filled with, again and again.
    private let pattern: Buffer
    /// The result, or its beginning and its end.
    private let readback: Buffer
    private var expected: [UInt8]?
    private var best = Double.infinity

    private static let patternByteCount = 4 << 20
    private static let readbackByteCount = 32 << 20
    /// Short layers are run several times in a row, about so long.
    private static let leastSeconds = 0.0002
    private static let mostRepeats = 16
    private static let runs = 3

    /// - Parameters:
    ///   - alone: A graph of one convolution.
    ///   - pipelines: Where variants are compiled.
    package init(
        _ alone: Graph, _ settings: PlanSettings, _ device: LogicalDevice, _ pipelines: PipelineStore
    )
        throws(VulkanError)
    {
        guard let shape = ConvolutionShape(alone.layers[0], in: alone, batch: settings.batch) else {
            preconditionFailure("a layer without variants")
        }
        self.alone = alone
        self.shape = shape
        self.settings = settings
        self.device = device
        self.pipelines = pipelines
        let byteCounts = (alone.inputs + alone.outputs).map { BoundPlan.byteCount(alone.shape(of: $0), settings) }
        pattern = try Buffer(device, byteCount: min(byteCounts.max() ?? 0, Self.patternByteCount), .upload)
        readback = try Buffer(
            device, byteCount: min(byteCounts.last ?? 0, Self.readbackByteCount), .readback)
        fillPattern()
    }

    package func seconds(_ variant: KernelVariant) throws(VulkanError) -> Double? {
        var settings = settings
        settings.variants = [shape: variant]
        let bound = try BoundPlan(DispatchPlan(alone, settings: settings), device: device, pipelines: pipelines)
        let output = bound.range(alone.outputs[0])
        // The output too: what a variant does not write must not look as if it had.
        let filled = (alone.inputs.map(bound.range) + [output]).flatMap(fill)
        try run(CommandBuffer(device, filled + bound.commands + copies(of: output)))
        guard isExpected() else { return nil }
        var seconds = try time(bound.commands, repeats: 1)
        if seconds < 2 * best {
            let repeats = max(1, min(Self.mostRepeats, Int(Self.leastSeconds / max(seconds, 1e-9))))
            for _ in 0..<Self.runs { seconds = min(seconds, try time(bound.commands, repeats: repeats)) }
        }
        best = min(best, seconds)
        return seconds
    }

    /// How long the commands take, by the device's clock; by the host's where it has none.
    private func time(_ commands: [Command], repeats: Int) throws(VulkanError) -> Double {
        let many = (0..<repeats).flatMap { _ in commands }
        guard let stamps = try TimestampPool(device, count: 2) else {
            let recorded = try CommandBuffer(device, many)
            let start = SuspendingClock.now
            try run(recorded)
            return (SuspendingClock.now - start) / .seconds(1) / Double(repeats)
        }
        try run(
            CommandBuffer(
                device, [.timestamp(index: 0)] + many + [.timestamp(index: 1)], timestamps: stamps))
        return try stamps.intervals()[0] / Double(repeats)
    }

    private func run(_ commands: CommandBuffer) throws(VulkanError) {
        let submission = try Submission(device)
        try submission.submit(commands)
        try submission.wait(nanoseconds: VulkanBackend.timeoutNanoseconds)
    }

    /// Whether the last result is that of the first variant, byte for byte.
    private func isExpected() -> Bool {
        guard let contents = readback.contents else { return false }
        guard let expected else {
            expected = Array(UnsafeRawBufferPointer(start: contents, count: readback.byteCount))
            return true
        }
        return memcmp(contents, expected, expected.count) == 0
    }

    /// Fills a tensor; large ones from themselves, for a card is far from the host's memory.
    private func fill(_ range: BufferRange) -> [Command] {
        var filled = min(pattern.byteCount, range.byteCount)
        func part(_ start: Int, _ count: Int) -> BufferRange { range.buffer.range(range.offset + start, count) }
        var commands: [Command] = [.copy(from: pattern.range(0, filled), to: part(0, filled))]
        while filled < range.byteCount {
            let count = min(filled, range.byteCount - filled)
            commands.append(.copy(from: part(0, count), to: part(filled, count)))
            filled += count
        }
        return commands
    }

    /// Copies of a result into the read-back memory: all of it, or its two ends.
    private func copies(of range: BufferRange) -> [Command] {
        guard range.byteCount > readback.byteCount else { return [.copy(from: range, to: readback.all)] }
        let half = readback.byteCount / 2
        return [(0, range.offset), (half, range.offset + range.byteCount - half)].map { to, from in
            .copy(from: range.buffer.range(from, half), to: readback.range(to, half))
        }
    }

    /// Numbers between 1/8 and 2, of either sign, as they are stored.
    private func fillPattern() {
        guard let contents = pattern.contents else { return }
        var state: UInt64 = 1
        for place in 0..<pattern.byteCount / 4 {
            // Knuth's MMIX; the high bits are the random ones.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let random = UInt32(state >> 32)
            let word =
                settings.precision == .float32
                ? random & 0x81ff_ffff | 0x3e00_0000 : random & 0x8fff_8fff | 0x3000_3000
            contents.storeBytes(of: word, toByteOffset: place * 4, as: UInt32.self)
        }
    }
}
