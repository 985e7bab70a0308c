import CPUBackend
import ModelGraph

/// The steps from a picture to its masks, and all memory that they need.
///
///     picture --resize, normalise--> input --network--> scores --sample at the masks' size--> masks
final class CPUPipeline {
    let network: CPUNetwork
    private let normalization: Normalization
    private var bytes: [UInt8]
    /// For the sizes of pictures that came last.
    private var plans = RecentValues<PicturePlan.Key, PicturePlan>(
        countLimit: ModelMemory.keptSamplers, costLimit: ModelMemory.keptSamplerByteCount)

    init(model: Model, threads: Int?) throws(ImageSegmenterError) {
        do {
            network = try CPUNetwork(model: model, threads: threads)
        } catch {
            throw .unusableDevice("\(error)")
        }
        normalization = Normalization(model.input)
        bytes = [UInt8](repeating: 0, count: model.input.shape.elementCount)
    }

    func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks {
        let clock = ContinuousClock()
        let start = clock.now
        let size = try request.maskSize(of: image.size)
        let plan = plan(PicturePlan.Key(picture: image.size, maskSize: request.size, fit: request.fit), masks: size)
        plan.prepare(image, into: &bytes)
        let prepared = clock.now
        let scores = try run(bytes)
        let computed = clock.now
        var masks = plan.masks(of: scores, request, deviceName: network.backend.deviceName) {
            self.plan(PicturePlan.Key(picture: image.size, maskSize: .source, fit: request.fit), masks: image.size)
        }
        masks.timings = Timings(start, prepared: prepared, computed: computed, end: clock.now)
        return masks
    }

    /// The network's scores for its input, good until the next run.
    func run(_ input: [UInt8]) throws(ImageSegmenterError) -> UnsafeBufferPointer<Float> {
        input.withUnsafeBufferPointer { normalization.apply($0, into: network.input.mutableValues) }
        do {
            try network.run()
        } catch {
            throw .inferenceFailed("\(error)")
        }
        return network.scores.values
    }

    private func plan(_ key: PicturePlan.Key, masks: PixelSize) -> PicturePlan {
        plans.value(for: key, cost: ModelMemory.samplerByteCount(network.scoreShape, network.head)) {
            PicturePlan(key, masks: masks, input: network.model.input, samplers: network.samplers)
        }
    }
}
