import VulkanBackend
import Base
import Imaging
import ModelGraph
import VulkanCompute

/// A model's network on a device, shared by the programs for all formats of frames.
///
/// Weights are packed and uploaded once for each batch, with the network's trailing resizes and without.
package final class PictureNetwork: Sendable {
    let backend: VulkanBackend
    let input: ModelInput
    package let outputKind: OutputKind
    /// The optimised network.
    let whole: Graph
    /// The same without its trailing resizes, and those.
    let trunk: Graph
    let head: ScoreHead
    private let plans = Locked<[Key: BoundPlan]>([:])

    private struct Key: Hashable {
        var isWhole: Bool
        var batch: Int
    }

    /// Runs the passes; nothing is put on the device yet.
    package convenience init(_ backend: VulkanBackend, model: Model) {
        self.init(backend, graph: model.graph, input: model.input, outputKind: model.outputKind)
    }

    /// Creates a network from a graph of one input, a picture's, and one output.
    package init(_ backend: VulkanBackend, graph: Graph, input: ModelInput, outputKind: OutputKind) {
        self.backend = backend
        self.input = input
        self.outputKind = outputKind
        whole = graph.optimized()
        (trunk, head) = whole.separatingHead()
    }

    /// Size of the whole network's output.
    var output: Shape { whole.shape(of: whole.outputs[0]) }

    /// Size of the network's scores before its trailing resizes.
    package var scoreSize: PixelSize {
        let shape = trunk.shape(of: trunk.outputs[0])
        return PixelSize(width: shape.width, height: shape.height)
    }

    /// Puts on the device what the network itself needs for frames of a format, unless it is there.
    ///
    /// - Throws: `VulkanError` when the device has too little memory for the network or cannot do a part of it, whatever the size
    ///   of the pictures.
    package func prepare(for format: SegmentationFormat) throws(VulkanError) {
        _ = try plan(isWhole: needsWholeGraph(for: format), batch: format.batch)
    }

    /// Finds out how the network's convolutions are computed best, for one picture at a time: now, and not when the first one waits.
    ///
    /// - Throws: `VulkanError` when the device fails.
    package func tune() throws(VulkanError) { try backend.tune(whole, batch: 1) }

    /// Where an upright picture of a format lies in the network's input.
    package func geometry(for format: SegmentationFormat) -> FitGeometry {
        FitGeometry(
            format.fit, picture: format.picture.oriented(format.orientation),
            network: PixelSize(width: input.width, height: input.height))
    }

    /// Whether the trailing resizes must be run before masks are made.
    func needsWholeGraph(for format: SegmentationFormat) -> Bool {
        SamplingPlan.needsWholeGraph(
            head, channels: output.channels, outputs: format.outputs,
            resamples: SamplingPlan.resamples(
                format.outputs.pictureCategories ? format.atPictureSize : format, geometry(for: format),
                output: output.extent))
    }

    /// The network in the device's memory, with or without its trailing resizes.
    func plan(isWhole: Bool, batch: Int) throws(VulkanError) -> BoundPlan {
        try plans.withLock { plans throws(VulkanError) in
            let key = Key(isWhole: isWhole, batch: batch)
            if let plan = plans[key] { return plan }
            let plan = try backend.bind(isWhole ? whole : trunk, batch: batch)
            plans[key] = plan
            return plan
        }
    }
}
