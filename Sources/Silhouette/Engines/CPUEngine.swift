import Base
import CPUBackend
import ModelGraph

/// Runs frames on the processor, one at a time.
package final class CPUEngine: SegmentationEngine {
    package let deviceName: String
    /// Threads that work on a picture.
    package let threadCount: Int
    /// The vector instructions in use: `avx2`.
    package let instructionSet: String
    private let pipeline: Locked<CPUPipeline>
    private let input: ModelInput
    /// On the caller's thread.
    private let backgroundSamplers: ScoreSamplers

    /// Prepares the network.
    package init(model: Model, options: BaseOptions) throws(ImageSegmenterError) {
        let pipeline = try CPUPipeline(model: model, threads: options.threadCount)
        let backend = pipeline.network.backend
        deviceName = backend.deviceName
        threadCount = backend.threadCount
        instructionSet = backend.instructionSet.rawValue
        input = model.input
        do throws(CPUBackendError) {
            backgroundSamplers = try pipeline.network.samplers.alone()
        } catch {
            throw .unusableDevice("\(error)")
        }
        self.pipeline = Locked(pipeline)
    }

    package func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks {
        try pipeline.withLock { pipeline throws(ImageSegmenterError) in try pipeline.segment(image, request) }
    }

    /// Only the network is run on all threads and under the lock: it takes as long for each picture, and everything else longer
    /// for larger ones.
    package func segment(
        _ image: Image, _ request: MaskRequest, inBackground work: BackgroundWork
    ) throws(ImageSegmenterError) -> Masks {
        let clock = ContinuousClock()
        let start = clock.now
        let size = try request.maskSize(of: image.size)
        func plan(_ maskSize: MaskSize, _ masks: PixelSize) -> PicturePlan {
            PicturePlan(
                PicturePlan.Key(picture: image.size, maskSize: maskSize, fit: request.fit), masks: masks, input: input,
                samplers: backgroundSamplers)
        }
        let (picture, bytes) = work.callInBackground {
            let picture = plan(request.size, size)
            var bytes = [UInt8](repeating: 0, count: input.shape.elementCount)
            picture.prepare(image, into: &bytes)
            return (picture, bytes)
        }
        let prepared = clock.now
        let scores = try work.callOnDevice { () throws(ImageSegmenterError) in
            try pipeline.withLock { pipeline throws(ImageSegmenterError) in Array(try pipeline.run(bytes)) }
        }
        let computed = clock.now
        var masks = work.callInBackground {
            scores.withUnsafeBufferPointer {
                picture.masks(of: $0, request, deviceName: deviceName) { plan(.source, image.size) }
            }
        }
        masks.timings = Timings(start, prepared: prepared, computed: computed, end: clock.now)
        return masks
    }
}
