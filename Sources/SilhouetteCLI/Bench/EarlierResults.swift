import Base
import Glibc
import JSONText
import Silhouette

/// Results that `bench --json` printed before.
package struct EarlierResults: Sendable {
    /// What is needed of one run.
    package struct Run: Sendable, Equatable {
        package var configuration: BenchConfiguration
        package var driver: String
        package var summary: LatencySummary

        package init(configuration: BenchConfiguration, driver: String, summary: LatencySummary) {
            self.configuration = configuration
            self.driver = driver
            self.summary = summary
        }
    }

    /// The file's name.
    package var name: String
    /// Silhouette's version, the date and the processor.
    package var version, date, processor: String
    /// How many processors other programs kept at work.
    package var busyProcessorCount: Double?
    package var runs: [Run]

    package init(
        name: String, version: String, date: String, processor: String, busyProcessorCount: Double? = nil, runs: [Run]
    ) {
        self.name = name
        self.version = version
        self.date = date
        self.processor = processor
        self.busyProcessorCount = busyProcessorCount
        self.runs = runs
    }

    /// A sweep over all that there is to sweep has less.
    private static let byteLimit = 16 << 20
    private static let runLimit = 1000

    /// Reads a file, or what a pipe gives.
    package init(path: String) throws(BenchError) {
        guard let bytes = SystemFile.bytes(path, limit: Self.byteLimit) else {
            let reason =
                errno == EFBIG ? "has more than \(Self.byteLimit >> 20) MiB" : lastSystemError()
            throw BenchError("\(path): cannot be read: \(reason)")
        }
        try self.init(bytes, name: path)
    }

    /// Reads the bytes of a file.
    package init(_ bytes: [UInt8], name: String) throws(BenchError) {
        let document: JSON
        do throws(JSONError) {
            let parsed = bytes.withUnsafeBytes { bytes -> Result<JSON, JSONError> in
                Result { () throws(JSONError) in try JSON(parsing: bytes) }
            }
            document = try parsed.get()
        } catch {
            throw BenchError("\(name): is not JSON, at byte \(error.offset): \(error.reason)")
        }
        guard let results = document["results"]?.elements, let machine = document["machine"], case .object = machine
        else {
            throw BenchError(
                "\(name): is not what silhouette bench --json prints: it needs \"machine\" and \"results\"")
        }
        guard results.count <= Self.runLimit else {
            throw BenchError("\(name): has more than \(Self.runLimit) results")
        }
        self.name = name
        version = printableWords(machine["silhouette"]?.text ?? "of unknown version")
        date = printableWords(machine["date"]?.text ?? "unknown date")
        processor = printableWords(machine["cpu"]?.text ?? "unknown processor")
        busyProcessorCount = machine["busy_processors"]?.value
        runs = []
        for (index, result) in results.enumerated() {
            guard let run = Run(result) else {
                throw BenchError(
                    "\(name): result \(index + 1) is not one of silhouette bench --json: a part is missing, of another kind or impossible"
                )
            }
            runs.append(run)
        }
    }
}

extension EarlierResults.Run {
    /// In milliseconds: from a nanosecond to a month. Ratios of such numbers are numbers.
    private static let possibleMedians = 1e-6...3e9

    fileprivate init?(_ result: JSON) {
        guard let model = result["model"]?.text, let device = result["device"]?.text,
            let precision = result["precision"]?.text.flatMap({ Precision(rawValue: $0) }),
            let batch = result["batch"]?.integer, (1...256).contains(batch),
            let threads = result["threads"]?.integer, (1...4096).contains(threads),
            let scope = result["scope"]?.text.flatMap({ BenchScope(rawValue: $0) }), let input = result["input"]?.text,
            let count = result["iterations"]?.integer, (1...1_000_000).contains(count),
            let latency = result["latency_ms"], let median = latency["median"]?.value, let p25 = latency["p25"]?.value,
            let p75 = latency["p75"]?.value, Self.possibleMedians.contains(median), p25 >= 0, p25 <= median,
            median <= p75, p75 <= Self.possibleMedians.upperBound
        else { return nil }
        self.init(
            configuration: BenchConfiguration(
                model: model, weightsDigest: result["weights"]?.text, device: device, precision: precision,
                batch: batch, threads: threads, scope: scope, input: input),
            driver: result["driver"]?.text ?? "",
            summary: LatencySummary(median: median, p25: p25, p75: p75, count: count))
    }
}

extension JSON {
    fileprivate subscript(_ key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    fileprivate var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    fileprivate var value: Double? {
        guard case .number(let value) = self else { return nil }
        return value
    }

    fileprivate var elements: [JSON]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }
}
