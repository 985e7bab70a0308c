import CPUBackend
import Imaging
import ModelGraph
import Silhouette

/// Times whole calls: an RGB picture in memory to the category mask at its size.
struct CallBenchmark {
    let settings: BenchSettings
    let modelPath: String
    let weightsDigest: String
    let image: Image
    let precision: Precision

    func run() throws -> BenchRun {
        let start = ContinuousClock.now
        let model = try readModel(modelPath, memoryLimit: settings.modelMemory, threads: settings.threads)
        let target = try BenchTarget(settings)
        var options = ImageSegmenterOptions()
        options.baseOptions.device = settings.device
        options.baseOptions.threadCount = settings.threads
        options.baseOptions.precision = precision
        options.baseOptions.tuning = settings.tuning
        let segmenter = try ImageSegmenter(options: options, model: model)
        let preparation = milliseconds(since: start)

        let (first, latencies) = try settings.time {
            _ = try segmenter.segment(image: image)
            // What took over would be timed under a wrong name.
            if let failure = segmenter.deviceFailure { throw ImageSegmenterError.unusableDevice(failure) }
        }
        let peak = PeakMemory.byteCount
        let processor = try CPUBackend(threads: settings.threads)
        let name = Input(settings.picture ?? "").displayName
        var run = BenchRun(
            BenchConfiguration(
                model: model.name, weightsDigest: weightsDigest, device: segmenter.deviceName, precision: precision,
                batch: 1,
                threads: processor.threadCount, scope: .call, input: "\(name), \(image.width)x\(image.height)"),
            driver: target.physical?.driver ?? processor.instructionSet.rawValue, latencies: latencies,
            firstRunMilliseconds: preparation + first, peakResidentByteCount: peak,
            work: model.graph.optimized().separatingHead().trunk.work(
                batch: 1, valueByteCount: precision.valueByteCount))
        run.tuning = segmenter.deviceTuning
        return run
    }
}
