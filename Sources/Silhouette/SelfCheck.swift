import ModelGraph
import VulkanBackend
import VulkanCompute

/// Finds out, the first time that a device, its driver, this program and a network meet, whether the device gives the
/// processor's answer.
///
/// One small fixed picture goes the whole way on both, from its pixels to categories, confidences and scores. A driver that
/// compiles a shader wrongly is off by far more than rounding, so the bounds are wide.
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

    /// - Parameter identity: The device and driver. Nil: nothing is remembered.
    package init(_ model: Model, _ options: BaseOptions, identity: PhysicalDevice.CacheIdentity?)
        throws(ImageSegmenterError)
    {
        self.model = model
        self.options = options
        precision = options.precision
        let (folder, precision) = (options.shaderCacheFolder, precision)
        record = identity.map { SelfCheckRecord(folder: folder, model: model, identity: $0, precision: precision) }

        var everything = ImageSegmenterOptions()
        everything.shouldOutputCategoryMask = model.labels.count <= 256
        everything.shouldOutputConfidenceMasks = true
        everything.confidenceClasses = Set([0, model.labels.count - 1]).sorted()
        everything.shouldOutputScores = true
        everything.maskSize = .model
        request = try MaskRequest(everything, of: ModelOutput(model))
    }

    /// Runs the check unless it has been passed before.
    ///
    /// - Parameter makeRunner: Prepares the device.
    /// - Throws: `Failure`, or what the device throws.
    package func runOnce(_ makeRunner: () throws -> any FrameRunner) throws {
        guard record?.isPassed != true else { return }
        let masks = try makeRunner().segment(Self.picture, request)
        try compare(masks, CPUEngine(model: model, options: options).segment(Self.picture, request))
        record?.notePassed()
    }

    /// Shares of the picture in which categories may differ, and mean differences of values in shares of their mean size.
    private var bounds: (categories: Double, values: Double) { precision == .float32 ? (0.01, 0.01) : (0.05, 0.05) }

    /// Throws unless two answers are the same but for rounding.
    package func compare(_ masks: Masks, _ expected: Masks) throws(Failure) {
        if let categories = masks.categories?.categories, let others = expected.categories?.categories {
            let share = Double(zip(categories, others).count { $0 != $1 }) / Double(max(1, others.count))
            try require(share, atMost: bounds.categories, "the category of", "of the pixels")
        }
        let planes = (masks.confidences ?? []).map(\.confidences) + (masks.scores.map { [$0.values] } ?? [])
        let others = (expected.confidences ?? []).map(\.confidences) + (expected.scores.map { [$0.values] } ?? [])
        for (values, others) in zip(planes, others) {
            let difference = zip(values, others).reduce(0.0) { $0 + Double(abs($1.0 - $1.1)) }
            let size = others.reduce(0.0) { $0 + Double(abs($1)) }
            try require(difference / max(size, 1e-3 * Double(others.count)), atMost: bounds.values, "scores by", "")
        }
    }

    private func require(_ share: Double, atMost bound: Double, _ what: String, _ unit: String) throws(Failure) {
        // Not a number is over every bound.
        guard !(share <= bound) else { return }
        let percent = share.isFinite ? "\(Int((share * 100).rounded(.up))) %" : "all"
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
