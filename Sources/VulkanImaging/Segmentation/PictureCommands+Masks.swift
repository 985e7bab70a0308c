import VulkanBackend
import Imaging
import ModelGraph
import VulkanCompute

/// What all dispatches that sample scores have in common: bindings 1 to 3 and most of the push constants of
/// Shaders/include/sampling.glsl.
private struct Sampling {
    let bindings: [PictureCommands.Binding]
    let pushConstants: [Int]
    /// Groups of 4 pixels in a row.
    let quads: Int
    /// Rows of all pictures of the batch.
    let rows: Range<Int>

    init(_ plan: SamplingPlan, _ scores: BufferRange, _ device: LogicalDevice, batch: Int) throws(VulkanError) {
        let masks = plan.masks
        let rowTaps = plan.rows.words(lanes: 1, count: masks.height, length: plan.scores.height)
        let columnTaps = plan.columns.words(lanes: 4, count: masks.width, length: plan.scores.width)
        let tables = try BoundConstant.upload([.table(rowTaps.words), .table(columnTaps.words)], to: device)
        bindings = [.tensor(scores)] + tables.map { .table($0.resource) }
        quads = (masks.width + 3) / 4
        rows = 0..<masks.height * batch
        pushConstants = [
            batch, plan.scores.height, plan.scores.width, plan.scores.channels, masks.height, masks.width, quads,
            rowTaps.taps, columnTaps.taps, plan.rows.seen.lowerBound, plan.rows.seen.upperBound,
            plan.columns.seen.lowerBound, plan.columns.seen.upperBound,
        ]
    }
}

extension PictureCommands {
    /// Adds the way from the network's scores to everything that is wanted of them.
    mutating func sample(
        _ plan: SamplingPlan, _ scores: BufferRange, into memory: SegmentationMemory, format: SegmentationFormat
    ) throws(VulkanError) {
        let sampling = try Sampling(plan, scores, backend.device, batch: format.batch)
        if let categories = memory.categories { try sampleCategories(sampling, plan, into: categories.range) }
        try sampleConfidences(sampling, plan, into: memory.confidences, classes: format.outputs.confidenceClasses)
        if let sampled = memory.scores {
            let rowByteCount = plan.masks.width * plan.scores.channels * 4
            // Bindings begin at multiples of the alignment: as many rows as that, because a row is whole words.
            let limits = backend.device.physical.limits
            let alignment = limits.bindingAlignment
            let most = max(alignment, limits.storageBufferRange / rowByteCount / alignment * alignment)
            for first in stride(from: 0, to: sampling.rows.count, by: most) {
                let rows = first..<min(first + most, sampling.rows.count)
                try sample(
                    sampling, "scores", "sampled_scores", [], rows: rows,
                    into: sampled.range.part(first * rowByteCount, rows.count * rowByteCount))
            }
        }
    }

    /// Adds the way from the network's scores to category masks alone.
    mutating func sampleCategories(
        _ plan: SamplingPlan, _ scores: BufferRange, into categories: BufferRange, batch: Int
    ) throws(VulkanError) {
        try sampleCategories(Sampling(plan, scores, backend.device, batch: batch), plan, into: categories)
    }

    private mutating func sampleCategories(_ sampling: Sampling, _ plan: SamplingPlan, into categories: BufferRange)
        throws(VulkanError)
    {
        try sample(
            sampling, "categories", "categories", [plan.isSubjectOnly ? 1 : 0, plan.threshold.bitPattern],
            rows: sampling.rows, into: categories)
    }

    private mutating func sample(
        _ sampling: Sampling, _ name: String, _ shader: String, _ constants: [UInt32], rows: Range<Int>,
        into range: BufferRange, more: (bindings: [Binding], pushConstants: [Int]) = ([], [0, 0])
    ) throws(VulkanError) {
        try dispatch(
            name, shader, variant: readingVariant, constants: constants,
            [.written(range)] + sampling.bindings + more.bindings,
            pushConstants: sampling.pushConstants + [rows.lowerBound, rows.count] + more.pushConstants,
            count: rows.count * sampling.quads, batch: 1)
    }

    /// Confidences, as many classes in a dispatch as the device can bind.
    private mutating func sampleConfidences(
        _ sampling: Sampling, _ plan: SamplingPlan, into planes: [SegmentationMemory.Result], classes: [Int]
    ) throws(VulkanError) {
        guard let plane = planes.first?.range else { return }
        let planeStride = planes.count > 1 ? planes[1].range.offset - plane.offset : plane.byteCount
        let most = max(1, backend.device.physical.limits.storageBufferRange / planeStride)
        for first in stride(from: 0, to: classes.count, by: most) {
            let part = first..<min(first + most, classes.count)
            let table = try BoundConstant.upload([.table(classes[part].map(UInt32.init))], to: backend.device)[0]
            let range = plane.buffer.range(
                planes[first].range.offset, (part.count - 1) * planeStride + plane.byteCount)
            try sample(
                sampling, "confidences", "confidences", [plan.confidence.rawValue, plan.isSubjectOnly ? 1 : 0],
                rows: sampling.rows, into: range,
                more: ([.table(table.resource)], [part.count, planeStride / 16]))
        }
    }
}

extension BufferRange {
    /// A part of the range.
    fileprivate func part(_ offset: Int, _ byteCount: Int) -> BufferRange {
        precondition(offset + byteCount <= self.byteCount, "a part past the end of its range")
        return buffer.range(self.offset + offset, byteCount)
    }
}
