import SilhouetteCLI

/// Runs and reports as `bench` makes them.
enum BenchFixtures {
    static func configuration(
        model: String = "tiny", weights: String? = nil, device: String = "cpu (portable, 1 thread)", batch: Int = 1,
        threads: Int = 1, input: String = "noise"
    ) -> BenchConfiguration {
        BenchConfiguration(
            model: model, weightsDigest: weights, device: device, precision: .float32, batch: batch, threads: threads,
            scope: .network, input: input)
    }

    static func run(_ configuration: BenchConfiguration, _ latencies: [Double], layers: [LayerTime] = []) -> BenchRun {
        var run = BenchRun(
            configuration, driver: "portable", latencies: latencies, firstRunMilliseconds: 30.25,
            peakResidentByteCount: 3 << 20, work: Work(operationCount: 4_000_000, byteCount: 1_000_000))
        run.layers = layers
        if !layers.isEmpty { run.rates = DeviceRates(gigaflops: 4, gigabytesPerSecond: 2, movedByteCount: 3_200_000) }
        return run
    }

    static let layers = [
        LayerTime(
            name: "stem", operation: "conv2d 3x3", milliseconds: 1.5,
            work: Work(operationCount: 3_000_000, byteCount: 400_000)),
        LayerTime(
            name: "pool", operation: "maxPool 2x2", milliseconds: 0.5, work: Work(operationCount: 0, byteCount: 800_000)
        ),
        LayerTime(name: "category map", operation: "arg-max", milliseconds: 1),
    ]

    static let machine = MachineFacts(
        version: "9.9.9", date: "2026-01-02T03:04:05Z", system: "Linux 6.1 x86_64", processor: "Processor <X> & Co",
        processorCount: 2, instructionSet: "AVX2", clock: 2400, greatestClock: nil, loadAverage: 0.25,
        busyProcessorCount: 0.1)

    static func report(_ runs: [BenchRun]) -> BenchReport {
        var report = BenchReport(machine: machine, outcomes: runs.map { .run($0) })
        report.setFloors()
        return report
    }
}
