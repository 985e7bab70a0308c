import CPUBackend
import Imaging
import ModelGraph
import Silhouette
import VulkanBackend

/// Times the network alone: normalised floats to category maps at model size.
struct NetworkBenchmark {
    let settings: BenchSettings
    let modelPath: String
    let weightsDigest: String
    let image: Image?
    let precision: Precision
    let batch: Int
    /// Rates that have been measured already.
    let knownRates: DeviceRates?

    func run() throws -> BenchRun {
        let start = ContinuousClock.now
        let model = try readModel(modelPath, memoryLimit: settings.modelMemory, threads: settings.threads)
        let target = try BenchTarget(settings)
        let device = try target.makeBackend(precision, settings.tuning)
        let network = try CPUNetwork(model: model, threads: settings.threads, batch: batch, on: device)
        let masks = MaskMaker(network)
        let preparation = milliseconds(since: start)
        fill(network.input.mutableValues, for: model.input)

        var deviceTimes: [Double] = []
        let (first, latencies) = try settings.time {
            try network.run()
            masks.make()
        } after: {
            if let seconds = try (network.trunk as? any DeviceTimedGraph)?.deviceSeconds() {
                deviceTimes.append(seconds * 1000)
            }
        }
        var run = BenchRun(
            BenchConfiguration(
                model: model.name, weightsDigest: weightsDigest,
                device: target.physical?.name ?? network.backend.deviceName, precision: precision,
                batch: batch, threads: network.backend.threadCount, scope: .network,
                input: settings.picture.map { Input($0).displayName } ?? "seeded noise"),
            driver: target.physical?.driver ?? network.backend.instructionSet.rawValue, latencies: latencies,
            deviceTimes: deviceTimes, firstRunMilliseconds: preparation + first,
            peakResidentByteCount: PeakMemory.byteCount,
            work: network.trunk.graph.work(batch: batch, valueByteCount: precision.valueByteCount))
        run.tuning = device?.tuningSummary?.text
        guard settings.listsLayers else { return run }
        run.layers = try profile(network, masks)
        run.rates =
            knownRates
            ?? Calibration(backend: device ?? network.backend, valueByteCount: precision.valueByteCount).rates()
        return run
    }

    /// A photograph as the network sees it in every picture of the batch; without one, noise that is the same every
    /// time.
    private func fill(_ input: UnsafeMutableBufferPointer<Float>, for description: ModelInput) {
        guard let image else {
            var state: UInt64 = 1
            for index in input.indices {
                // The high bits of a linear congruential generator (Knuth's MMIX), as -1 ..< 1.
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                input[index] = Float(state >> 40) * 0x1p-23 - 1
            }
            return
        }
        var bytes = [UInt8](repeating: 0, count: description.shape.elementCount)
        bytes.withUnsafeMutableBufferPointer { bytes in
            image.withView { Preprocessor(for: description, picture: image.size).prepare($0, into: bytes) }
        }
        let count = bytes.count
        for start in stride(from: 0, to: input.count, by: count) {
            bytes.withUnsafeBufferPointer {
                Normalization(description).apply(
                    $0, into: UnsafeMutableBufferPointer(rebasing: input[start..<start + count]))
            }
        }
    }

    /// The median time of each layer, and of making the masks of the scores.
    private func profile(_ network: CPUNetwork, _ masks: MaskMaker) throws -> [LayerTime] {
        let graph = network.trunk.graph
        var times = [[Double]](repeating: [], count: graph.layers.count)
        var maskTimes: [Double] = []
        for _ in 0..<settings.profiledRunCount {
            for (index, seconds) in try network.profile().enumerated() { times[index].append(seconds * 1000) }
            let start = ContinuousClock.now
            masks.make()
            maskTimes.append(milliseconds(since: start))
        }
        var layers = zip(graph.layers, times).map { layer, times in
            LayerTime(
                name: layer.name, operation: layer.operation.nameWithKernel, milliseconds: Distribution(times).median,
                work: graph.work(of: layer, batch: batch, valueByteCount: precision.valueByteCount))
        }
        let resizes = network.head.resizes.isEmpty ? "" : "resize + "
        layers.append(
            LayerTime(
                name: "category map", operation: resizes + "arg-max", milliseconds: Distribution(maskTimes).median))
        return layers
    }
}

/// Makes the category maps of all pictures of a batch.
private final class MaskMaker {
    private let network: CPUNetwork
    private let sampler: ScoreSampler
    private var maps: [UInt8]

    init(_ network: CPUNetwork) {
        self.network = network
        sampler = network.sampler()
        maps = [UInt8](
            repeating: 0, count: network.trunk.batch * network.outputExtent.height * network.outputExtent.width)
    }

    func make() {
        maps.withUnsafeMutableBufferPointer { maps in
            let count = maps.count / network.trunk.batch
            for index in 0..<network.trunk.batch {
                sampler.categories(
                    network.scores(of: index),
                    into: UnsafeMutableBufferPointer(rebasing: maps[index * count..<(index + 1) * count]))
            }
        }
    }
}
