import ModelGraph
import Silhouette

extension BenchReport {
    /// Everything for people.
    package var table: String {
        var lines: [String] = []
        if let run = runs.first {
            lines = outcomes.count == 1 ? facts(of: run) + figures(of: run) : facts(of: run) + [""] + sweep
        }
        for run in runs where !run.layers.isEmpty { lines += [""] + layers(of: run) }
        if let comparison { lines += [""] + comparison.lines }
        return lines.joined(separator: "\n")
    }

    private func facts(of run: BenchRun) -> [String] {
        let configuration = run.configuration
        var rows = [("model", configuration.model), ("device", configuration.device)]
        if machine.graphics != nil { rows.append(("driver", run.driver)) }
        rows += machine.rows.filter { $0.name == "processor" }
        if let tuning = run.tuning { rows.append(("tuning", tuning)) }
        rows.append(("scope", "\(configuration.scope.rawValue), \(configuration.input)"))
        return Self.aligned(rows)
    }

    private func figures(of run: BenchRun) -> [String] {
        let latency = Distribution(run.latencies)
        func ms(_ value: Double) -> String { decimal(value, places: 2) + " ms" }
        var rows = [
            ("precision", run.configuration.title),
            ("latency", "median \(ms(latency.median)) of \(run.latencies.count) runs"),
            ("", "min \(ms(latency.min)), p25 \(ms(latency.p25)), p75 \(ms(latency.p75)),"),
            ("", "p95 \(ms(latency.p95)), p99 \(ms(latency.p99)), max \(ms(latency.max))"),
        ]
        if !run.deviceTimes.isEmpty {
            let device = Distribution(run.deviceTimes)
            rows.append(("device time", "median \(ms(device.median)), min \(ms(device.min)), max \(ms(device.max))"))
        }
        rows += [
            ("images/s", decimal(run.imagesPerSecond, places: 1)),
            (
                "rate",
                "\(decimal(run.work.gigaflops(in: latency.median), places: 1)) GFLOP/s, "
                    + "\(decimal(run.work.gigabytesPerSecond(in: latency.median), places: 1)) GB/s"
            ),
            ("first run", ms(run.firstRunMilliseconds)),
            ("peak memory", decimal(Double(run.peakResidentByteCount) / 1_048_576, places: 1) + " MiB"),
        ]
        return Self.aligned(rows)
    }

    private static func aligned(_ rows: [(String, String)]) -> [String] {
        rows.map { name, value in name + String(repeating: " ", count: 13 - name.count) + value }
    }

    /// A line for each run of a sweep, and one for each that could not be done, in its place.
    private var sweep: [String] {
        let hasDeviceTimes = runs.contains { !$0.deviceTimes.isEmpty }
        let numbers = hasDeviceTimes ? 12 : 11
        var text = AlignedText([.left] + [AlignedText.Side](repeating: .right, count: numbers))
        text.append(
            ["precision", "batch", "median ms", "min", "p25", "p75", "p95", "p99"]
                + (hasDeviceTimes ? ["on device"] : []) + ["images/s", "GFLOP/s", "GB/s", "peak MiB"])
        for outcome in outcomes {
            switch outcome {
            case .run(let run):
                let latency = Distribution(run.latencies)
                let times = [latency.median, latency.min, latency.p25, latency.p75, latency.p95, latency.p99]
                let device =
                    run.deviceTimes.isEmpty ? "-" : decimal(Distribution(run.deviceTimes).median, places: 2)
                let rates = [
                    run.imagesPerSecond, run.work.gigaflops(in: latency.median),
                    run.work.gigabytesPerSecond(in: latency.median), Double(run.peakResidentByteCount) / 1_048_576,
                ]
                text.append(
                    [run.configuration.precision.rawValue, "\(run.configuration.batch)"]
                        + times.map { decimal($0, places: 2) } + (hasDeviceTimes ? [device] : [])
                        + rates.map { decimal($0, places: 1) })
            case .failure(let failure):
                text.append(
                    ["\(failure.precision.rawValue)", "\(failure.batch)"],
                    remark: "could not be done: " + singleLine(failure.reason))
            }
        }
        return text.lines
    }

    private func layers(of run: BenchRun) -> [String] {
        func number(_ value: Double?, _ places: Int) -> String {
            value.flatMap { $0.isFinite ? decimal($0, places: places) : nil } ?? "-"
        }
        let sum = run.layerSum
        var text = AlignedText([.right, .right, .right, .right, .right, .right, .left, .left])
        text.append(["ms", "share", "GFLOP/s", "GB/s", "floor ms", "x floor", "operator", "layer"])
        for layer in run.layers {
            let time = layer.milliseconds
            let gigaflops = layer.work.flatMap { $0.operationCount > 0 ? $0.gigaflops(in: time) : nil }
            text.append([
                number(time, 3), number(time / sum * 100, 1) + " %", number(gigaflops, 1),
                number(layer.work?.gigabytesPerSecond(in: time), 1), number(layer.floorMilliseconds, 3),
                number(layer.floorMilliseconds.map { time / $0 }, 1), layer.operation, singleLine(layer.name),
            ])
        }
        let floors = run.layers.compactMap(\.floorMilliseconds).reduce(0, +)
        text.append([number(sum, 3), "", "", "", number(floors, 3), "", "sum of the layers"])
        let heading = runs.count == 1 ? [] : ["layers, \(run.configuration.title):"]
        var lines = heading + text.lines
        if let rates = run.rates, rates.gigaflops > 0 {
            lines.append("best rates: \(rates.text)")
        }
        return lines
    }
}
