import CPUBackend
import ModelGraph

/// What is prepared for pictures of one size.
struct PicturePlan {
    struct Key: Hashable {
        var picture: PixelSize
        var maskSize: MaskSize
        var fit: Fit
    }

    private let preprocessor: Preprocessor
    private let size: PixelSize
    private let sampler: ScoreSampler
    private let scoreSize: PixelSize

    /// - Parameters:
    ///   - masks: Their size.
    ///   - samplers: On the threads that are to make masks.
    init(_ key: Key, masks: PixelSize, input: ModelInput, samplers: ScoreSamplers) {
        preprocessor = Preprocessor(for: input, picture: key.picture, fit: key.fit)
        size = masks
        scoreSize = samplers.scoreSize
        sampler =
            switch key.maskSize {
            case .source: samplers.sampler(for: preprocessor.geometry)
            case .model: samplers.sampler()
            }
    }

    /// Brings a picture to the network's size.
    func prepare(_ image: Image, into bytes: inout [UInt8]) {
        image.withView { view in
            bytes.withUnsafeMutableBufferPointer { preprocessor.prepare(view, into: $0) }
        }
    }

    /// Makes masks of the network's scores.
    ///
    /// - Parameter pictures: The plan for masks of the picture's size.
    func masks(
        of scores: UnsafeBufferPointer<Float>, _ request: MaskRequest, deviceName: String, pictures: () -> PicturePlan
    ) -> Masks {
        var masks = request.makeMasks(size, deviceName: deviceName) {
            sampler.categories(scores, into: $0)
        } confidences: {
            sampler.confidences(scores, classes: Array(request.confidenceClasses[$0]), into: $1)
        } scores: {
            sampler.scores(scores, into: $0)
        }
        if request.wantsPictureCategories {
            let plan = pictures()
            masks.pictureCategories = CategoryMask(plan.size) { plan.sampler.categories(scores, into: $0) }
        }
        if request.subjectClasses != nil { masks.subject = subject(of: scores, request) }
        return masks
    }
}

extension PicturePlan {
    /// A map of the subject at the size of the network's output.
    private func subject(of scores: UnsafeBufferPointer<Float>, _ request: MaskRequest) -> SubjectMap {
        let size = PixelSize(width: sampler.target.width, height: sampler.target.height)
        var classes = [UInt8](repeating: 0, count: size.pixelCount)
        let margins = classes.withUnsafeMutableBufferPointer { classes in
            [Float](unsafeUninitializedCapacity: size.pixelCount) { margins, count in
                sampler.margins(
                    scores, subject: request.isSubject,
                    into: UnsafeMutableBufferPointer(rebasing: margins[..<size.pixelCount]), classes: classes)
                count = size.pixelCount
            }
        }
        return SubjectMap(
            size, margins: margins, classes: classes, geometry: preprocessor.geometry, scoreSize: scoreSize,
            keepsBackground: request.isSubject.first ?? false)
    }
}

extension Timings {
    /// The times between the steps' ends.
    init(
        _ start: ContinuousClock.Instant, prepared: ContinuousClock.Instant, computed: ContinuousClock.Instant,
        end: ContinuousClock.Instant
    ) {
        self.init(
            preprocessMilliseconds: (prepared - start) / .milliseconds(1),
            inferenceMilliseconds: (computed - prepared) / .milliseconds(1),
            postprocessMilliseconds: (end - computed) / .milliseconds(1))
    }
}
