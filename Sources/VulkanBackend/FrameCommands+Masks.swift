import Imaging
import ModelGraph
import VulkanCompute

extension FrameCommands {
    /// Adds the way from the network's scores to everything that is wanted of them.
    mutating func sample(
        _ plan: SamplingPlan, _ scores: BufferRange, into memory: FrameMemory, format: FrameFormat
    ) throws(VulkanError) {
        let masks = plan.masks
        let quads = (masks.width + 3) / 4
        let rows = plan.rows.words(lanes: 1, count: masks.height, length: plan.scores.height)
        let columns = plan.columns.words(lanes: 4, count: masks.width, length: plan.scores.width)
        let classes = format.outputs.confidenceClasses
        let colors = format.outputs.overlay.map { overlay in (0..<256).map { UInt32(overlay.palette[$0].word) } }
        let tables = try BoundConstant.upload(
            [
                .table(rows.words), .table(columns.words),
                // A table that nobody reads still has a word.
                .table(classes.isEmpty ? [0] : classes.map(UInt32.init)), .table(colors ?? [0]),
            ], to: backend.device)
        let push = [
            format.batch, plan.scores.height, plan.scores.width, plan.scores.channels, masks.height, masks.width, quads,
            rows.taps, columns.taps, plan.rows.seen.lowerBound, plan.rows.seen.upperBound,
            plan.columns.seen.lowerBound, plan.columns.seen.upperBound, classes.count,
        ]
        func bindings(_ result: FrameMemory.Result) -> [Binding] {
            [.written(result.range), .tensor(scores), .table(tables[0].resource), .table(tables[1].resource)]
        }
        if let categories = memory.categories {
            try dispatch(
                "categories", "categories", variant: readingVariant,
                constants: [plan.isSubjectOnly ? 1 : 0, plan.threshold.bitPattern], bindings(categories),
                pushConstants: push, count: masks.height * quads, batch: format.batch)
        }
        if let confidences = memory.confidences {
            try dispatch(
                "confidences", "confidences", variant: readingVariant,
                constants: [plan.confidence.rawValue, plan.isSubjectOnly ? 1 : 0],
                bindings(confidences) + [.table(tables[2].resource)], pushConstants: push,
                count: masks.height * quads, batch: format.batch)
        }
        if let sampled = memory.scores {
            try dispatch(
                "scores", "sampled_scores", variant: readingVariant, constants: [], bindings(sampled),
                pushConstants: push, count: masks.height * quads, batch: format.batch)
        }
        if let overlay = memory.overlay, let categories = memory.categories, let wanted = format.outputs.overlay {
            let steps = PixelSteps(format.picture, format.orientation)
            try dispatch(
                "overlay", "overlay", variant: "", constants: [],
                [
                    .written(overlay.range), .read(memory.pictures), .read(categories.range),
                    .table(tables[3].resource),
                ],
                pushConstants: [
                    masks.height, masks.width, quads, steps.first, steps.right, steps.down, format.background.word,
                    Int(byte(fraction: wanted.opacity)),
                ], count: masks.height * quads, batch: format.batch)
        }
    }
}
