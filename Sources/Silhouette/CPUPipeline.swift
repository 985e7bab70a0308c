import CPUBackend
import ModelGraph

/// The steps from a picture to its masks, and all memory that they need.
///
///     picture --resize, normalise--> input --network--> scores --sample at the masks' size--> masks
final class CPUPipeline {
    let network: CPUNetwork
    private let request: MaskRequest
    private let normalization: Normalization
    private var bytes: [UInt8]
    /// For the size of picture that came last.
    private var plan: PicturePlan?

    init(model: Model, options: ImageSegmenterOptions) throws(ImageSegmenterError) {
        request = try MaskRequest(options, of: model)
        do {
            network = try CPUNetwork(model: model, threads: options.baseOptions.threadCount)
        } catch {
            throw .unusableDevice("\(error)")
        }
        normalization = Normalization(model.input)
        bytes = [UInt8](repeating: 0, count: model.input.shape.elementCount)
    }

    func segment(_ image: Image) throws(ImageSegmenterError) -> Masks {
        let clock = ContinuousClock()
        let start = clock.now
        let plan = try plan(for: image.size)
        image.withView { view in
            bytes.withUnsafeMutableBufferPointer { plan.preprocessor.prepare(view, into: $0) }
        }
        bytes.withUnsafeBufferPointer { normalization.apply($0, into: network.input.mutableValues) }
        let prepared = clock.now
        do {
            try network.run()
        } catch {
            throw .inferenceFailed("\(error)")
        }
        let computed = clock.now
        let scores = network.scores.values
        var masks = request.makeMasks(plan.masks, deviceName: network.backend.deviceName) {
            plan.sampler.categories(scores, into: $0)
        } confidences: {
            plan.sampler.confidences(scores, classes: Array(request.confidenceClasses[$0]), into: $1)
        } scores: {
            plan.sampler.scores(scores, into: $0)
        }
        masks.timings = Timings(
            preprocessMilliseconds: (prepared - start) / .milliseconds(1),
            inferenceMilliseconds: (computed - prepared) / .milliseconds(1),
            postprocessMilliseconds: (clock.now - computed) / .milliseconds(1))
        return masks
    }

    private func plan(for picture: PixelSize) throws(ImageSegmenterError) -> PicturePlan {
        if let plan, plan.preprocessor.geometry.picture == picture { return plan }
        let masks = try request.maskSize(of: picture)
        let plan = PicturePlan(picture: picture, masks: masks, network: network, options: request.options)
        self.plan = plan
        return plan
    }
}

/// What is prepared for pictures of one size.
private struct PicturePlan {
    let preprocessor: Preprocessor
    let masks: PixelSize
    let sampler: ScoreSampler

    init(picture: PixelSize, masks: PixelSize, network: CPUNetwork, options: ImageSegmenterOptions) {
        preprocessor = Preprocessor(for: network.model.input, picture: picture, fit: options.fit)
        self.masks = masks
        sampler =
            switch options.maskSize {
            case .source: network.sampler(for: preprocessor.geometry)
            case .model: network.sampler()
            }
    }
}
