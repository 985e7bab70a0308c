import JSONText
import Silhouette

/// The outcome of one benchmark.
package struct BenchReport {
    /// How long one layer took on average.
    package struct LayerTime {
        package let name: String
        package let operation: String
        package let milliseconds: Double

        package init(name: String, operation: String, milliseconds: Double) {
            self.name = name
            self.operation = operation
            self.milliseconds = milliseconds
        }
    }

    package var model: String
    package var device: String
    /// What drives the device: for the processor the instruction set.
    package var driver: String
    package var precision: Precision
    package var batch: Int
    package var threads: Int
    package var scope: BenchScope
    package var input: String
    package var latencies: [Double]
    /// The time that the device itself counted for each run. Empty: it has no clock of its own.
    package var deviceTimes: [Double]
    package var firstRunMilliseconds: Double
    package var peakResidentByteCount: Int
    package var layers: [LayerTime]

    package init(
        model: String, device: String, driver: String, precision: Precision, batch: Int, threads: Int,
        scope: BenchScope, input: String, latencies: [Double], deviceTimes: [Double] = [],
        firstRunMilliseconds: Double, peakResidentByteCount: Int, layers: [LayerTime]
    ) {
        self.model = model
        self.device = device
        self.driver = driver
        self.precision = precision
        self.batch = batch
        self.threads = threads
        self.scope = scope
        self.input = input
        self.latencies = latencies
        self.deviceTimes = deviceTimes
        self.firstRunMilliseconds = firstRunMilliseconds
        self.peakResidentByteCount = peakResidentByteCount
        self.layers = layers
    }

    /// Pictures a second, from the median latency.
    package var imagesPerSecond: Double { Double(batch) * 1000 / Distribution(latencies).median }

    /// One JSON object. The processor has no clock of its own beside the host's, so `device_ms` is null there.
    package var json: String {
        func distribution(_ values: [Double]) -> JSONValue {
            guard !values.isEmpty else { return .null }
            let values = Distribution(values)
            return .object([
                "min": .number(values.min), "median": .number(values.median), "p95": .number(values.p95),
                "p99": .number(values.p99), "max": .number(values.max),
            ])
        }
        return JSONValue.object([
            "results": .list([
                .object([
                    "device": .text(device), "driver": .text(driver), "precision": .text(precision.rawValue),
                    "batch": .integer(batch), "threads": .integer(threads), "scope": .text(scope.rawValue),
                    "model": .text(model), "input": .text(input), "iterations": .integer(latencies.count),
                    "latency_ms": distribution(latencies), "device_ms": distribution(deviceTimes),
                    "images_per_second": .number(imagesPerSecond),
                    "first_run_ms": .number(firstRunMilliseconds),
                    "peak_rss_bytes": .integer(peakResidentByteCount),
                    "layers": .list(
                        layers.map { layer in
                            .object([
                                "name": .text(layer.name), "op": .text(layer.operation),
                                "ms": .number(layer.milliseconds),
                            ])
                        }),
                ])
            ])
        ]).json
    }

    /// The same for people.
    package var table: String {
        let latency = Distribution(latencies)
        func ms(_ value: Double) -> String { decimal(value, places: 2) + " ms" }
        var rows = [
            ("model", model), ("device", device), ("scope", "\(scope.rawValue), \(input)"),
            ("precision", "\(precision.rawValue), batch \(batch)"),
            ("latency", "median \(ms(latency.median)) of \(latencies.count) runs"),
            ("", "min \(ms(latency.min)), p95 \(ms(latency.p95)), p99 \(ms(latency.p99)), max \(ms(latency.max))"),
        ]
        if !deviceTimes.isEmpty {
            let device = Distribution(deviceTimes)
            rows.append(("device time", "median \(ms(device.median)), min \(ms(device.min)), max \(ms(device.max))"))
        }
        rows += [
            ("images/s", decimal(imagesPerSecond, places: 1)),
            ("first run", ms(firstRunMilliseconds)),
            ("peak memory", decimal(Double(peakResidentByteCount) / 1_048_576, places: 1) + " MiB"),
        ]
        var lines = rows.map { name, value in name + String(repeating: " ", count: 13 - name.count) + value }
        if !layers.isEmpty {
            let total = layers.map(\.milliseconds).reduce(0, +)
            let nameWidth = layers.map(\.name.count).max() ?? 0
            let operationWidth = layers.map(\.operation.count).max() ?? 0
            lines.append("")
            for layer in layers {
                let share = total > 0 ? layer.milliseconds / total * 100 : 0
                lines.append(
                    padded(decimal(layer.milliseconds, places: 3), 9, .right) + " ms"
                        + padded(decimal(share, places: 1), 6, .right) + " %  "
                        + padded(layer.operation, operationWidth) + "  " + padded(layer.name, nameWidth))
            }
            lines.append(padded(decimal(total, places: 3), 9, .right) + " ms  sum of the layers")
        }
        return lines.map { line in
            var line = line
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}

private enum Side { case left, right }

/// Text with spaces added until it has `width` characters.
private func padded(_ text: String, _ width: Int, _ side: Side = .left) -> String {
    let spaces = String(repeating: " ", count: max(0, width - text.count))
    return side == .left ? text + spaces : spaces + text
}
