import JSONText
import Silhouette

extension BenchReport {
    /// One JSON object. The processor has no clock of its own beside the host's, so `device_ms` is null there.
    package var json: String {
        var members: [(String, JSONValue)] = [
            ("machine", machine.json), ("results", .list(runs.map(\.json))),
            (
                "failures",
                .list(
                    failures.map { failure in
                        .object([
                            "precision": .text(failure.precision.rawValue), "batch": .integer(failure.batch),
                            "error": .text(failure.reason),
                        ])
                    })
            ),
        ]
        if let comparison { members.append(("comparison", comparison.json)) }
        return JSONValue.members(members).json
    }
}

extension BenchRun {
    /// The most latencies that are listed one by one. Of more, every second, third ... is.
    private static let listedLatencies = 10_000

    fileprivate var json: JSONValue {
        let median = Distribution(latencies).median
        let step = (latencies.count + Self.listedLatencies - 1) / Self.listedLatencies
        let samples = stride(from: 0, to: latencies.count, by: max(1, step)).map { JSONValue.number(latencies[$0]) }
        return .object([
            "device": .text(configuration.device), "driver": .text(driver),
            "tuning": tuning.map(JSONValue.text) ?? .null,
            "precision": .text(configuration.precision.rawValue), "batch": .integer(configuration.batch),
            "threads": .integer(configuration.threads), "scope": .text(configuration.scope.rawValue),
            "model": .text(configuration.model),
            "weights": configuration.weightsDigest.map(JSONValue.text) ?? .null, "input": .text(configuration.input),
            "iterations": .integer(latencies.count), "latency_ms": distribution(latencies),
            "device_ms": distribution(deviceTimes), "images_per_second": .number(imagesPerSecond),
            "gflops": .number(work.gigaflops(in: median)),
            "gb_per_second": .number(work.gigabytesPerSecond(in: median)),
            "operations": .integer(work.operationCount), "bytes": .integer(work.byteCount),
            "first_run_ms": .number(firstRunMilliseconds), "peak_rss_bytes": .integer(peakResidentByteCount),
            "layers": .list(layers.map { $0.json(of: layerSum) }),
            "best_rates": rates.map { rates in
                .object([
                    "gflops": .number(rates.gigaflops), "gb_per_second": .number(rates.gigabytesPerSecond),
                    "gb_per_second_of_bytes": .integer(rates.movedByteCount),
                ])
            } ?? .null,
            "latencies_ms": .list(samples),
        ])
    }

    private func distribution(_ values: [Double]) -> JSONValue {
        guard !values.isEmpty else { return .null }
        let values = Distribution(values)
        return .object([
            "min": .number(values.min), "p25": .number(values.p25), "median": .number(values.median),
            "p75": .number(values.p75), "p95": .number(values.p95), "p99": .number(values.p99),
            "max": .number(values.max),
        ])
    }
}

extension LayerTime {
    fileprivate func json(of sum: Double) -> JSONValue {
        func number(_ value: Double?) -> JSONValue { value.map(JSONValue.number) ?? .null }
        return .object([
            "name": .text(name), "op": .text(operation), "ms": .number(milliseconds),
            "share": .number(milliseconds / sum), "gflops": number(work?.gigaflops(in: milliseconds)),
            "gb_per_second": number(work?.gigabytesPerSecond(in: milliseconds)),
            "floor_ms": number(floorMilliseconds),
        ])
    }
}
