import JSONText
import Silhouette

/// What was timed, and on what.
package struct BenchConfiguration: Hashable, Sendable {
    package var model: String
    package var device: String
    package var precision: Precision
    package var batch: Int
    package var threads: Int
    package var scope: BenchScope
    package var input: String
    /// Tells models of one name apart; nil where it is not known.
    package var weightsDigest: String?

    package init(
        model: String, weightsDigest: String? = nil, device: String, precision: Precision, batch: Int, threads: Int,
        scope: BenchScope, input: String
    ) {
        self.model = model
        self.weightsDigest = weightsDigest
        self.device = device
        self.precision = precision
        self.batch = batch
        self.threads = threads
        self.scope = scope
        self.input = input
    }

    /// What tells the runs of a sweep apart: `fp16, batch 4`.
    package var title: String { "\(precision.rawValue), batch \(batch)" }

    /// Whether another has done the same, on whatever device. Weights tell models apart better than names.
    func isSameTask(as other: BenchConfiguration) -> Bool {
        let isSameModel =
            if let weightsDigest, let digest = other.weightsDigest {
                weightsDigest == digest
            } else {
                model == other.model
            }
        return isSameModel && precision == other.precision && batch == other.batch && scope == other.scope
            && input == other.input
    }

    /// Whether another has run on a device like this one, with as many threads.
    func isSameDevice(as other: BenchConfiguration) -> Bool { device == other.device && threads == other.threads }

    /// For a comparison between devices, on one line: `NVIDIA GeForce RTX 3090, 8 threads`.
    var deviceAndThreads: String { "\(printableWords(device)), \(threads) thread\(threads == 1 ? "" : "s")" }
}

/// The outcome of one benchmark: one model on one device, in one precision, at one batch size.
package struct BenchRun: Sendable {
    package var configuration: BenchConfiguration
    /// What drives the device: for the processor the instruction set.
    package var driver: String
    /// In milliseconds, in the order in which they were measured.
    package var latencies: [Double]
    /// The time that the device itself counted for each run. Empty: it has no clock of its own.
    package var deviceTimes: [Double]
    package var firstRunMilliseconds: Double
    package var peakResidentByteCount: Int
    /// What the network's layers have to do in a run, whatever computes them.
    package var work: Work
    /// Which variants of its shaders the device has found to be the fastest. Nil: it has not looked.
    package var tuning: String?
    /// Where asked for.
    package var layers: [LayerTime] = []
    /// What the floors of the layers are computed from.
    package var rates: DeviceRates?

    package init(
        _ configuration: BenchConfiguration, driver: String, latencies: [Double], deviceTimes: [Double] = [],
        firstRunMilliseconds: Double, peakResidentByteCount: Int, work: Work
    ) {
        self.configuration = configuration
        self.driver = driver
        self.latencies = latencies
        self.deviceTimes = deviceTimes
        self.firstRunMilliseconds = firstRunMilliseconds
        self.peakResidentByteCount = peakResidentByteCount
        self.work = work
    }

    /// Pictures a second, from the median latency.
    package var imagesPerSecond: Double { Double(configuration.batch) * 1000 / Distribution(latencies).median }

    /// The sum of the layers' times; not a number where one of them is not known.
    package var layerSum: Double { layers.map(\.milliseconds).reduce(0, +) }
}

/// How long one layer took, and what it had to do.
package struct LayerTime: Sendable {
    package var name: String
    package var operation: String
    /// The median of all runs; not a number where the device takes no time stamps.
    package var milliseconds: Double
    /// Nil where it is not known what must be done, as for masks.
    package var work: Work?
    /// The time that the work would take at the device's best rates.
    package var floorMilliseconds: Double?

    package init(name: String, operation: String, milliseconds: Double, work: Work? = nil) {
        self.name = name
        self.operation = operation
        self.milliseconds = milliseconds
        self.work = work
    }
}

/// A benchmark of a sweep that could not be done.
package struct BenchFailure: Sendable {
    package var precision: Precision
    package var batch: Int
    /// One line.
    package var reason: String

    package init(precision: Precision, batch: Int, reason: String) {
        self.precision = precision
        self.batch = batch
        self.reason = reason
    }
}
