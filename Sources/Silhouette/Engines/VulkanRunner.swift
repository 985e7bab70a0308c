import VulkanImaging
import Base
import ModelGraph
import VulkanBackend
import VulkanCompute

/// Runs whole frames on a Vulkan device, up to three at a time for as many callers.
///
/// For each format of frame there is a program and its slots; those of the last few formats are kept.
package final class VulkanRunner: FrameRunner {
    private typealias Scheduler = FrameScheduler<SegmentationSlot>

    package let deviceName: String
    package var tuning: String? { backend.tuningSummary?.text }
    private let backend: VulkanBackend
    private let network: PictureNetwork
    private let schedulers: Locked<RecentValues<SegmentationFormat, Scheduler>>
    private let effects: EffectDevice
    private let timeLimit: DeviceTimeout

    /// Formats of frames that are kept ready.
    private static let formatLimit = 4
    /// Bytes that the kept formats may take together: one of 50 megapixels, or four of 12.
    private static let byteLimit = 1 << 30

    /// - Parameter network: The model's, on a device.
    package init(_ network: PictureNetwork, on backend: VulkanBackend) {
        self.network = network
        self.backend = backend
        deviceName = backend.deviceName
        timeLimit = Self.timeLimit(of: backend.device.physical.kind)
        schedulers = Locked(RecentValues(countLimit: Self.formatLimit, costLimit: Self.byteLimit))
        effects = EffectDevice(backend, timeLimit)
    }

    package func segment(_ image: Image, _ request: MaskRequest) throws -> Masks {
        let format = SegmentationFormat(image.size, request)
        do {
            return try compute(image, request, format)
        } catch let error as PictureTooLarge {
            // The memory that it does take, and the room that it keeps from others.
            schedulers.withLock { $0.remove(format) }
            throw error
        }
    }

    private func compute(_ image: Image, _ request: MaskRequest, _ format: SegmentationFormat) throws -> Masks {
        let clock = ContinuousClock()
        let start = clock.now
        let size = try request.maskSize(of: image.size)
        let scheduler = try scheduler(for: format, masks: size, valuesPerPixel: request.valuesPerPixel)
        let ticket = try image.withView { try scheduler.submit($0) }
        let submitted = clock.now
        let masks = try scheduler.collect(ticket) { slot in
            let computed = clock.now
            var masks = request.makeMasks(size, deviceName: deviceName) {
                slot.copyCategories(into: $0)
            } confidences: {
                slot.copyConfidences($0, into: $1)
            } scores: {
                slot.copyScores(into: $0)
            }
            if request.wantsPictureCategories {
                masks.pictureCategories = CategoryMask(image.size) { slot.copyPictureCategories(into: $0) }
            }
            if request.subjectClasses != nil {
                masks.subject = SubjectMap(
                    ScoreMap(size, channels: request.output.channels) { slot.copyScores(into: $0) },
                    isSubject: request.isSubject, kind: network.outputKind, geometry: network.geometry(for: format),
                    scoreSize: network.scoreSize)
            }
            masks.timings = Timings(
                preprocessMilliseconds: (submitted - start) / .milliseconds(1),
                inferenceMilliseconds: (computed - submitted) / .milliseconds(1),
                postprocessMilliseconds: (clock.now - computed) / .milliseconds(1))
            return masks
        }
        guard let masks else { preconditionFailure("a frame that nobody cancelled has no result") }
        return masks
    }

    package func draw(_ drawing: PictureDrawing) throws -> Image { try effects.draw(drawing) }

    package func giveUp() { try? backend.device.giveUp() }

    private func scheduler(for format: SegmentationFormat, masks: PixelSize, valuesPerPixel: Int) throws -> Scheduler {
        // Upload, picture and half-resized picture, 4 bytes a pixel each; masks on the device and on the host.
        let pictureBytes = format.outputs.pictureCategories ? 14 : 12
        let cost = format.picture.pixelCount * pictureBytes + masks.pixelCount * (2 + 8 * valuesPerPixel)
        return try schedulers.withLock { schedulers in
            try schedulers.value(for: format, cost: cost) {
                // Where the network itself does not fit, no picture does.
                try network.prepare(for: format)
                let program = try fitting { try SegmentationProgram(network, format: format) }
                backend.saveCompiledShaders()
                return Scheduler(timeLimit: timeLimit) { try fitting { try program.makeSlot() } }
            }
        }
    }

    /// A card that does not answer for most of a second hangs; a driver that computes on the processor is only held up.
    private static func timeLimit(of kind: DeviceKind) -> DeviceTimeout {
        kind == .software
            ? DeviceTimeout(initial: 60_000_000_000, minimum: 10_000_000_000)
            : DeviceTimeout(initial: 10_000_000_000, minimum: 800_000_000)
    }
}

extension VulkanRunner {
    /// Opens a device, puts the model on it, and has the two checked where they have not met before.
    static func start(
        _ model: Model, _ options: BaseOptions, on physical: PhysicalDevice, of instance: VulkanInstance,
        shaders: ShaderLibrary
    ) throws -> VulkanRunner {
        let backend = VulkanBackend(
            try LogicalDevice(physical, instance: instance), precision: options.precision,
            shaders: shaders, cacheFolder: options.shaderCacheFolder,
            tuning: options.tuning ?? .standard(for: physical.kind))
        let network = PictureNetwork(backend, model: model)
        try network.tune()
        let runner = VulkanRunner(network, on: backend)
        // With a runner of its own, so that nothing of the check is kept.
        try SelfCheck(model, options, identity: physical.cacheIdentity, shaders: shaders)
            .runOnce { other in
                VulkanRunner(other.map { PictureNetwork(backend, model: $0) } ?? network, on: backend)
            }
        return runner
    }
}

/// Prepares something for a size of picture: that the device has no room for it does not mean that it does not work.
func fitting<Prepared>(_ prepare: () throws -> Prepared) throws -> Prepared {
    do {
        return try prepare()
    } catch let error as VulkanError where error.isOutOfResources {
        throw PictureTooLarge(reason: "\(error)")
    }
}

extension SegmentationFormat {
    /// Frames of one size, for a request.
    fileprivate init(_ picture: PixelSize, _ request: MaskRequest) {
        self.init(
            picture: picture, fit: request.fit, maskSize: request.size,
            outputs: SegmentationOutputs(
                categories: request.wantsCategories, confidenceClasses: request.confidenceClasses,
                scores: request.wantsScores || request.subjectClasses != nil,
                pictureCategories: request.wantsPictureCategories))
    }
}
