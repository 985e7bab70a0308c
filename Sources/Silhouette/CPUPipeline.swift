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
    private var plans = RecentValues<PicturePlan.Key, PicturePlan>(countLimit: 4, costLimit: .max)

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
        let plan = plan(for: image.size, masks: size, request.size, request.fit)
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
        if request.wantsPictureCategories {
            let plan = self.plan(for: image.size, masks: image.size, .source, request.fit)
            masks.pictureCategories = CategoryMask(image.size) { plan.sampler.categories(scores, into: $0) }
        }
        masks.timings = Timings(
            preprocessMilliseconds: (prepared - start) / .milliseconds(1),
            inferenceMilliseconds: (computed - prepared) / .milliseconds(1),
            postprocessMilliseconds: (clock.now - computed) / .milliseconds(1))
        return masks
    }

    private func plan(for picture: PixelSize, masks: PixelSize, _ maskSize: MaskSize, _ fit: Fit) -> PicturePlan {
        let key = PicturePlan.Key(picture: picture, maskSize: maskSize, fit: fit)
        return plans.value(for: key, cost: 0) { PicturePlan(key, masks: masks, network: network) }
    }
}

/// What is prepared for pictures of one size.
private struct PicturePlan {
    struct Key: Hashable {
        var picture: PixelSize
        var maskSize: MaskSize
        var fit: Fit
    }

    let preprocessor: Preprocessor
    let masks: PixelSize
    let sampler: ScoreSampler

    init(_ key: Key, masks: PixelSize, network: CPUNetwork) {
        preprocessor = Preprocessor(for: network.model.input, picture: key.picture, fit: key.fit)
        self.masks = masks
        sampler =
            switch key.maskSize {
            case .source: network.sampler(for: preprocessor.geometry)
            case .model: network.sampler()
            }
    }
}
