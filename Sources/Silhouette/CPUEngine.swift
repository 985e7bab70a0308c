import CPUBackend
import ModelGraph
import Synchronization

/// Runs frames on the processor, one at a time.
package final class CPUEngine: SegmentationEngine {
    package let deviceName: String
    /// Threads that work on a picture.
    package let threadCount: Int
    /// The vector instructions in use: `avx2`.
    package let instructionSet: String
    private let pipeline: Mutex<CPUPipeline>

    /// Prepares the network.
    package init(model: Model, options: BaseOptions) throws(ImageSegmenterError) {
        let pipeline = try CPUPipeline(model: model, threads: options.threadCount)
        let backend = pipeline.network.backend
        deviceName = backend.deviceName
        threadCount = backend.threadCount
        instructionSet = backend.instructionSet.rawValue
        self.pipeline = Mutex(pipeline)
    }

    package func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks {
        try pipeline.withLock { pipeline throws(ImageSegmenterError) in try pipeline.segment(image, request) }
    }
}
