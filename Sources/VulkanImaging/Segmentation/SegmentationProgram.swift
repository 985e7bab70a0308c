import VulkanBackend
import Imaging
import ModelGraph
import VulkanCompute

/// The way of a frame through a device, compiled for one format: one sequence of commands from 8-bit pixels to masks.
///
/// ```
/// upload --copy--> picture --resize, normalise--> input --network--> scores --sample--> masks --copy--> read-back
/// ```
/// All slots share what lies between the upload and the read-back: frames run one after another on the device. A frame
/// crosses the bus once each way.
package final class SegmentationProgram: Sendable {
    package let format: SegmentationFormat
    /// Where the upright picture lies in the network's input.
    package let geometry: FitGeometry
    package let maskSize: PixelSize
    /// Channels of the network's output.
    package let channelCount: Int
    /// Classes: the channels, or two for a single channel.
    package let classCount: Int
    /// Dispatches of the network alone.
    package let networkDispatchCount: Int

    /// Size of the category mask that comes besides. Nil: there is none.
    let pictureMaskSize: PixelSize?
    let device: LogicalDevice
    let memory: SegmentationMemory
    /// From the copied picture to the results.
    private let commands: [Command]

    /// Compiles a program for one model.
    ///
    /// - Throws: `VulkanError` when the device has too little memory or cannot do a part of it.
    package convenience init(_ backend: VulkanBackend, model: Model, format: SegmentationFormat) throws(VulkanError) {
        try self.init(PictureNetwork(backend, model: model), format: format)
    }

    /// Compiles a program around a network that other programs may share; at most one frame of all of them runs at a time.
    ///
    /// - Throws: `VulkanError` when the device has too little memory or cannot do a part of it.
    package init(_ network: PictureNetwork, format: SegmentationFormat) throws(VulkanError) {
        let backend = network.backend
        let outputs = format.outputs
        let geometry = network.geometry(for: format)
        let channels = network.output.channels
        precondition(
            (!outputs.categories && !outputs.pictureCategories) || channels <= 256,
            "a byte a pixel holds 256 classes")
        precondition(
            outputs.confidenceClasses.allSatisfy { (0..<max(2, channels)).contains($0) }, "a class that there is not")

        let isWhole = network.needsWholeGraph(for: format)
        let plan = try network.plan(isWhole: isWhole, batch: format.batch)
        func samplingPlan(_ format: SegmentationFormat) -> SamplingPlan {
            SamplingPlan(
                scores: plan.plan.graph.shape(of: plan.plan.graph.outputs[0]), head: isWhole ? nil : network.head,
                kind: network.outputKind, output: network.output.extent, geometry: geometry, format: format)
        }
        let sampling = samplingPlan(format)
        let pictureSampling = outputs.pictureCategories ? samplingPlan(format.atPictureSize) : nil
        let passes = ResamplePass.passes(for: geometry, stored: format.picture, orientation: format.orientation)
        let memory = try SegmentationMemory(
            backend.device, format: format, masks: sampling.masks, pictureMasks: pictureSampling?.masks,
            channels: channels, intermediatePixels: passes.count > 1 ? passes[0].size.pixelCount : 0)

        self.format = format
        self.geometry = geometry
        maskSize = sampling.masks
        pictureMaskSize = pictureSampling?.masks
        channelCount = channels
        classCount = max(2, channels)
        device = backend.device
        self.memory = memory

        var frame = PictureCommands(backend)
        try frame.resize(
            passes, from: memory, to: plan.range(plan.plan.graph.inputs[0]), geometry: geometry, format: format,
            input: network.input)
        frame.append(plan.commands)
        let scores = plan.range(plan.plan.graph.outputs[0])
        try frame.sample(sampling, scores, into: memory, format: format)
        if let pictureSampling, let categories = memory.pictureCategories {
            try frame.sampleCategories(pictureSampling, scores, into: categories.range, batch: format.batch)
        }
        commands = frame.commands
        networkDispatchCount = plan.commands.count
        // A mistake in the shapes shows here, not with the first frame.
        _ = try CommandBuffer(device, commands)
    }

    /// Takes upload and read-back memory for one frame in flight, and records its commands.
    ///
    /// - Throws: `VulkanError` when there is too little memory.
    package func makeSlot() throws(VulkanError) -> SegmentationSlot { try SegmentationSlot(self, omittedBarrier: nil) }

    /// As `makeSlot()`, with one barrier left out: for the test that proves that validation would notice.
    package func makeSlot(omittedBarrier: Int) throws(VulkanError) -> SegmentationSlot {
        try SegmentationSlot(self, omittedBarrier: omittedBarrier)
    }

    /// The commands of a frame between two buffers of the host.
    func commands(from upload: Buffer, to readback: Buffer) -> [Command] {
        [.copy(from: upload.all, to: memory.pictures)] + commands + [.copy(from: memory.results, to: readback.all)]
    }
}
