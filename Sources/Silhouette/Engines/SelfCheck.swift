import ModelGraph
import VulkanBackend
import VulkanCompute

/// Finds out, the first time that a device, its driver, this program and a network meet, whether the device gives the
/// processor's answer.
///
/// One small fixed picture goes the whole way on both, from its pixels to categories, confidences and scores: first through a
/// network of one layer that finds many classes in it, then through the real one, for which all of it may be background. A
/// driver that compiles a shader wrongly is off by far more than rounding, so the bounds are wide.
package struct SelfCheck {
    /// The device's answer is not the processor's.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private let model: Model
    private let options: BaseOptions
    /// What is asked of both: everything, at the network's size.
    package let request: MaskRequest
    private let precision: StoragePrecision
    private let record: SelfCheckRecord?

    /// - Parameters:
    ///   - identity: The device and driver. Nil: nothing is remembered.
    ///   - shaders: What the device runs.
    package init(
        _ model: Model, _ options: BaseOptions, identity: PhysicalDevice.CacheIdentity?,
        shaders: ShaderLibrary = .shared
    ) throws(ImageSegmenterError) {
        self.model = model
        self.options = options
        precision = options.precision
        let (folder, precision) = (options.shaderCacheFolder, precision)
        record = identity.map {
            SelfCheckRecord(
                folder: folder, model: model, identity: $0, precision: precision, shaders: shaders.digest)
        }

        var everything = ImageSegmenterOptions()
        everything.shouldOutputCategoryMask = model.labels.count <= 256
        everything.shouldOutputConfidenceMasks = true
        everything.confidenceClasses = ClassSelection([0, model.labels.count - 1])
        everything.shouldOutputScores = true
        everything.maskSize = .model
        request = try MaskRequest(everything, of: ModelOutput(model))
    }

    /// Runs the check unless it has been passed before.
    ///
    /// - Parameter makeRunner: Prepares the device for the model or, where it is given one, another.
    /// - Throws: `Failure`, or what the device throws.
    package func runOnce(_ makeRunner: (Model?) throws -> any FrameRunner) throws {
        guard record?.isPassed != true else { return }
        for (other, bounds) in [(model.sortingColors(), boundsOfOneLayer), (nil, bounds)] {
            let masks = try makeRunner(other).segment(Self.picture, request)
            let expected = try CPUEngine(model: other ?? model, options: options).segment(Self.picture, request)
            try compare(masks, expected, bounds)
        }
        record?.notePassed()
    }

    /// How far answers may be apart.
    private struct Bounds {
        /// Share of the picture in which categories may differ.
        var categories: Double
        /// Mean difference of values, in shares of their mean size.
        var values: Double
    }

    private var boundsOfOneLayer: Bounds {
        precision == .float32 ? Bounds(categories: 0.002, values: 0.001) : Bounds(categories: 0.02, values: 0.005)
    }

    /// Networks differ by 1e-6 in float32, by up to 0.01 in float16.
    private var bounds: Bounds {
        precision == .float32 ? Bounds(categories: 0.002, values: 0.001) : Bounds(categories: 0.05, values: 0.05)
    }

    /// Throws unless two answers of the network are the same but for rounding.
    package func compare(_ masks: Masks, _ expected: Masks) throws(Failure) {
        try compare(masks, expected, bounds)
    }

    private func compare(_ masks: Masks, _ expected: Masks, _ bounds: Bounds) throws(Failure) {
        if let categories = masks.categories?.categories, let others = expected.categories?.categories {
            let share = Double(zip(categories, others).count { $0 != $1 }) / Double(max(1, others.count))
            try require(share, atMost: bounds.categories, "the category of", "of the pixels")
        }
        let planes = (masks.confidences ?? []).map(\.confidences) + (masks.scores.map { [$0.values] } ?? [])
        let others = (expected.confidences ?? []).map(\.confidences) + (expected.scores.map { [$0.values] } ?? [])
        for (values, others) in zip(planes, others) {
            let difference = zip(values, others).reduce(0.0) { $0 + Double(abs($1.0 - $1.1)) }
            let size = others.reduce(0.0) { $0 + Double(abs($1)) }
            let share = difference / max(size, 1e-3 * Double(others.count))
            try require(share, atMost: bounds.values, "scores are off by", "")
        }
    }

    private func require(_ share: Double, atMost bound: Double, _ what: String, _ unit: String) throws(Failure) {
        // Not a number is over every bound.
        guard !(share <= bound) else { return }
        let percent = !share.isFinite ? "all" : share < 0.01 ? "less than 1 %" : "\(Int(share * 100)) %"
        throw Failure(
            description: "its answer to a test picture is not the processor's (\(what) \(percent)"
                + (unit.isEmpty ? ")" : " \(unit))"))
    }

    /// Shapes on a gradient, 61x47, so that there are borders between classes.
    package static let picture: Image = {
        let (width, height) = (61, 47)
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let isInside = (x - 22) * (x - 22) + (y - 25) * (y - 25) < 200
                let isStripe = x > 44 && (y / 5) % 2 == 0
                bytes.append(isInside ? 210 : UInt8(4 * x))
                bytes.append(isStripe ? 30 : UInt8(5 * y))
                bytes.append(isInside ? 60 : isStripe ? 220 : 128)
            }
        }
        // The bytes are as many as the size asks for.
        return try! Image(width: width, height: height, format: .rgb, bytes: bytes)
    }()
}
