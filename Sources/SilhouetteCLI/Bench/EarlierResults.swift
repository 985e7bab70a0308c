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

    /// Reads a file.
    package init(path: String) throws(BenchError) {
        guard let bytes = SystemFile.bytes(path, limit: 1 << 28) else {
            throw BenchError("\(path): cannot be read: \(String(cString: strerror(errno)))")
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
        self.name = name
        version = machine["silhouette"]?.text ?? "of unknown version"
        date = machine["date"]?.text ?? "unknown date"
        processor = machine["cpu"]?.text ?? "unknown processor"
        busyProcessorCount = machine["busy_processors"]?.value
        runs = []
        for (index, result) in results.enumerated() {
            guard let run = Run(result) else {
                throw BenchError(
                    "\(name): result \(index + 1) is not one of silhouette bench --json: a part is missing or of another kind"
                )
            }
            runs.append(run)
        }
    }
}

extension EarlierResults.Run {
    fileprivate init?(_ result: JSON) {
        guard let model = result["model"]?.text, let device = result["device"]?.text,
            let precision = result["precision"]?.text.flatMap({ Precision(rawValue: $0) }),
            let batch = result["batch"]?.integer, batch > 0, let threads = result["threads"]?.integer,
            let scope = result["scope"]?.text.flatMap({ BenchScope(rawValue: $0) }), let input = result["input"]?.text,
            let count = result["iterations"]?.integer, count > 0, let latency = result["latency_ms"],
            let median = latency["median"]?.value, let p25 = latency["p25"]?.value, let p75 = latency["p75"]?.value,
            median > 0, p25 <= median, median <= p75
        else { return nil }
        self.init(
            configuration: BenchConfiguration(
                model: model, device: device, precision: precision, batch: batch, threads: threads, scope: scope,
                input: input),
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
