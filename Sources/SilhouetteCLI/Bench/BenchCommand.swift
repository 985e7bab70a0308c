import CPUBackend
import Glibc
import Imaging
import ModelGraph
import Silhouette
import VulkanBackend

/// Runs `silhouette bench`.
func bench(_ settings: BenchSettings) throws -> ExitCode {
    let report =
        switch settings.scope {
        case .network: try benchNetwork(settings)
        case .call: try benchCall(settings)
        }
    Console.print(settings.printsJSON ? report.json : report.table)
    return .success
}

/// Times the network alone: normalised floats to category maps at model size.
private func benchNetwork(_ settings: BenchSettings) throws -> BenchReport {
    let path = try ModelLocator().locate(settings.model).path
    let picture = try settings.picture.map { try ImageFile.read(path: $0) }

    let start = ContinuousClock.now
    let model = try Model(path: path)
    let target = try BenchTarget(settings)
    let network = try CPUNetwork(
        model: model, threads: settings.threads, batch: settings.batch, on: try target.makeBackend(settings.precision))
    let sampler = network.sampler()
    var maps = [UInt8](repeating: 0, count: settings.batch * network.outputExtent.height * network.outputExtent.width)
    let preparation = milliseconds(since: start)
    fillInput(of: network, with: picture?.image)

    func makeMasks() {
        maps.withUnsafeMutableBufferPointer { maps in
            let count = maps.count / settings.batch
            for index in 0..<settings.batch {
                sampler.categories(
                    network.scores(of: index),
                    into: UnsafeMutableBufferPointer(rebasing: maps[index * count..<(index + 1) * count]))
            }
        }
    }
    var deviceTimes: [Double] = []
    let (first, latencies) = try time(settings) {
        try network.run()
        makeMasks()
    } after: {
        if let seconds = try (network.trunk as? any DeviceTimedGraph)?.deviceSeconds() {
            deviceTimes.append(seconds * 1000)
        }
    }
    return BenchReport(
        model: model.name, device: target.name ?? network.backend.deviceName,
        driver: target.driver ?? network.backend.instructionSet.rawValue,
        precision: settings.precision, batch: settings.batch, threads: network.backend.threadCount,
        scope: .network, input: settings.picture.map { Input($0).displayName } ?? "seeded noise",
        latencies: latencies, deviceTimes: deviceTimes, firstRunMilliseconds: preparation + first,
        peakResidentByteCount: peakResidentByteCount(),
        layers: settings.listsLayers ? try profile(network, settings.iterations, makeMasks) : [])
}

/// Times whole calls: an RGB picture in memory to the category mask at its size.
private func benchCall(_ settings: BenchSettings) throws -> BenchReport {
    let path = try ModelLocator().locate(settings.model).path
    // The command line was checked: this scope has a picture.
    let picture = settings.picture ?? ""
    let image = try ImageFile.read(path: picture).image

    let start = ContinuousClock.now
    let model = try Model(path: path)
    let target = try BenchTarget(settings)
    var options = ImageSegmenterOptions()
    options.baseOptions.device = settings.device
    options.baseOptions.threadCount = settings.threads
    options.baseOptions.precision = settings.precision
    let segmenter = try ImageSegmenter(options: options, model: model)
    let preparation = milliseconds(since: start)

    let (first, latencies) = try time(settings) {
        _ = try segmenter.segment(image: image)
        // What took over would be timed under a wrong name.
        if let failure = segmenter.deviceFailure { throw ImageSegmenterError.unusableDevice(failure) }
    }
    let processor = try CPUBackend(threads: settings.threads)
    return BenchReport(
        model: model.name, device: segmenter.deviceName, driver: target.driver ?? processor.instructionSet.rawValue,
        precision: settings.precision, batch: 1, threads: processor.threadCount, scope: .call,
        input: "\(Input(picture).displayName), \(image.width)x\(image.height)", latencies: latencies,
        firstRunMilliseconds: preparation + first, peakResidentByteCount: peakResidentByteCount(), layers: [])
}

/// A photograph as the network sees it in every picture of the batch; without one, noise that is the same every time.
private func fillInput(of network: CPUNetwork, with image: Image?) {
    let input = network.input.mutableValues
    if let image {
        let description = network.model.input
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
    } else {
        var state: UInt64 = 1
        for index in input.indices {
            // The high bits of a linear congruential generator (Knuth's MMIX), as -1 ..< 1.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            input[index] = Float(state >> 40) * 0x1p-23 - 1
        }
    }
}

/// How long the first run took, and each of the timed ones, in milliseconds.
///
/// - Parameter after: Called after each timed run, and not timed.
private func time(_ settings: BenchSettings, _ body: () throws -> Void, after: () throws -> Void = {}) throws
    -> (first: Double, [Double])
{
    func once() throws -> Double {
        let start = ContinuousClock.now
        try body()
        return milliseconds(since: start)
    }
    let first = try once()
    for _ in 0..<settings.warmup { try body() }
    let latencies = try (0..<settings.iterations).map { _ in
        let latency = try once()
        try after()
        return latency
    }
    return (first, latencies)
}

/// The mean time of each layer, and of making the masks of the scores.
private func profile(_ network: CPUNetwork, _ iterations: Int, _ makeMasks: () -> Void) throws
    -> [BenchReport.LayerTime]
{
    let layers = network.trunk.graph.layers
    var sums = [Double](repeating: 0, count: layers.count)
    var masks = 0.0
    for _ in 0..<iterations {
        for (index, seconds) in try network.profile().enumerated() { sums[index] += seconds * 1000 }
        let start = ContinuousClock.now
        makeMasks()
        masks += milliseconds(since: start)
    }
    var times = zip(layers, sums).map { layer, sum in
        BenchReport.LayerTime(
            name: layer.name, operation: layer.operation.nameWithKernel, milliseconds: sum / Double(iterations))
    }
    let resizes = network.head.resizes.isEmpty ? "" : "resize + "
    times.append(
        BenchReport.LayerTime(
            name: "category map", operation: resizes + "arg-max", milliseconds: masks / Double(iterations)))
    return times
}

private func milliseconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .milliseconds(1)
}

/// The most memory that the process has had at any time, in bytes.
private func peakResidentByteCount() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss * 1024  // Linux counts in KiB
}
