import JSONText
import ModelGraph
import Verification

/// Everything that a verification found, for people line by line, for programs as JSON.
package struct VerifyReport {
    package var model: String
    package var device: String
    package var driver: String
    package var reference: String
    package var input: String
    package var runs: [Run] = []

    /// One precision.
    package struct Run {
        package var precision: String
        package var layers: [LayerVerdict] = []
        package var network: NetworkVerdict?
        package var seconds = 0.0

        package init(precision: String) { self.precision = precision }

        /// The first layer that is not as it should be.
        package var firstFailure: LayerVerdict? { layers.first { !$0.passes } }
        /// Whether everything is as it should be.
        package var passes: Bool { firstFailure == nil && network?.passes ?? false }
    }

    package init(model: String, device: String, driver: String, reference: String, input: String) {
        self.model = model
        self.device = device
        self.driver = driver
        self.reference = reference
        self.input = input
    }

    /// Whether everything is as it should be.
    package var passes: Bool { runs.allSatisfy(\.passes) }

    /// The lines above the tables.
    package var heading: String {
        [
            ("model", model), ("device", driver.isEmpty ? device : "\(device), \(driver)"), ("reference", reference),
            ("picture", input),
        ].map { name, value in name + String(repeating: " ", count: 11 - name.count) + value }.joined(separator: "\n")
    }

    /// The line above the layers of one precision.
    package static let columns = "     #  operator               result          error    at y, x, channel   layer"

    /// A layer's line.
    package static func line(_ verdict: LayerVerdict) -> String {
        let deviation = verdict.deviation
        let place = "\(deviation.row), \(deviation.column), \(deviation.channel)"
        return (verdict.passes ? "ok   " : "FAIL ") + padded("\(verdict.index)", 3, onTheRight: false) + "  "
            + padded(verdict.operation, 21) + "  " + padded("\(verdict.shape)", 13) + "  "
            + padded(scientific(deviation.error), 8) + " " + padded(deviation.error == 0 ? "" : place, 17) + "  "
            + verdict.name
    }

    /// The lines about the whole network.
    package static func line(_ verdict: NetworkVerdict) -> String {
        let deviation = verdict.deviation
        var line =
            (verdict.passes ? "ok   " : "FAIL ")
            + "whole network: \(percent(verdict.agreement)) of \(verdict.pixelCount) "
            + "pixels have the same class"
        if verdict.agreeingPixelCount < verdict.pixelCount {
            line += " (\(verdict.clearlyDifferentPixelCount) of the others were not a near tie)"
        }
        line += ", largest error of a score \(scientific(deviation.error)) of at most \(scientific(verdict.tolerance))"
        if let mean = verdict.meanTolerance {
            line += ", in the mean \(scientific(deviation.meanError)) of at most \(scientific(mean))"
        }
        return line + (verdict.repeats ? "" : "; a second run gave other bytes")
    }

    /// What to conclude of one precision.
    package static func conclusion(_ run: Run) -> String {
        guard let failure = run.firstFailure else {
            return run.passes
                ? "\(run.precision): all \(run.layers.count) layers and the network are within bounds"
                : "\(run.precision): every layer alone is within bounds, the whole network is not"
        }
        let count = run.layers.filter { !$0.passes }.count
        let deviation = failure.deviation
        return "\(run.precision): \(count) of \(run.layers.count) layers over tolerance, the first is layer "
            + "\(failure.index), \(failure.name): error \(scientific(deviation.error)) at y \(deviation.row), "
            + "x \(deviation.column), channel \(deviation.channel): \(deviation.value), not \(deviation.reference)"
    }

    /// One JSON object.
    package var json: String {
        JSONValue.object([
            "model": .text(model), "device": .text(device), "driver": .text(driver), "reference": .text(reference),
            "input": .text(input), "passes": .boolean(passes), "runs": .list(runs.map(Self.json)),
        ]).json
    }

    private static func json(_ run: Run) -> JSONValue {
        .object([
            "precision": .text(run.precision), "passes": .boolean(run.passes), "seconds": .number(run.seconds),
            "first_failure": run.firstFailure.map { .text($0.name) } ?? .null,
            "network": run.network.map { network in
                .object([
                    "passes": .boolean(network.passes), "agreement": .exact(network.agreement),
                    "pixels": .integer(network.pixelCount),
                    "clearly_different_pixels": .integer(network.clearlyDifferentPixelCount),
                    "tolerance": .exact(network.tolerance), "error": json(network.deviation),
                    "mean_tolerance": network.meanTolerance.map { .exact($0) } ?? .null,
                    "repeats": .boolean(network.repeats),
                ])
            } ?? .null,
            "layers": .list(
                run.layers.map { layer in
                    .object([
                        "index": .integer(layer.index), "members": .list(layer.members.map(JSONValue.text)),
                        "op": .text(layer.operation), "shape": .text("\(layer.shape)"),
                        "passes": .boolean(layer.passes), "tolerance": .exact(layer.tolerance),
                        "error": json(layer.deviation),
                    ])
                }),
        ])
    }

    private static func json(_ deviation: Deviation) -> JSONValue {
        .object([
            "largest": .exact(deviation.error), "mean": .exact(deviation.meanError), "y": .integer(deviation.row),
            "x": .integer(deviation.column),
            "channel": .integer(deviation.channel), "value": .exact(Double(deviation.value)),
            "reference": .exact(Double(deviation.reference)),
        ])
    }
}

extension LayerVerdict {
    /// The names of its members.
    fileprivate var name: String { members.joined(separator: " + ") }
}

/// A share as a percentage that is 100 only where nothing is missing.
private func percent(_ share: Double) -> String {
    share == 1 ? "100 %" : decimal(min(share * 100, 99.9999), places: 4) + " %"
}

private func padded(_ text: String, _ width: Int, onTheRight: Bool = true) -> String {
    let spaces = String(repeating: " ", count: max(0, width - text.count))
    return onTheRight ? text + spaces : spaces + text
}
