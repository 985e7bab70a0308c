import Base

/// What a comparison needs of a series of latencies.
package struct LatencySummary: Sendable, Equatable {
    package var median, p25, p75: Double
    /// How many were measured.
    package var count: Int

    package init(median: Double, p25: Double, p75: Double, count: Int) {
        self.median = median
        self.p25 = p25
        self.p75 = p75
        self.count = count
    }

    /// Summarises at least one measurement.
    package init(_ latencies: [Double]) {
        let distribution = Distribution(latencies)
        self.init(
            median: distribution.median, p25: distribution.p25, p75: distribution.p75, count: latencies.count)
    }

    /// Half the height of a box plot's notch: where two notches do not meet, the medians differ with about 95 per cent
    /// confidence (McGill, Tukey and Larsen, Variations of Box Plots, 1978).
    var notch: Double { 1.57 * (p75 - p25) / Double(count).squareRoot() }
}

/// What is to be said of a run beside an earlier one.
package enum Verdict: String, Sendable {
    case faster, slower
    case same = "no difference beyond noise"
    case tooFewRuns = "too few runs to tell"
}

/// The medians of two runs beside each other.
package struct Comparison: Sendable, Equatable {
    /// A difference of less is none: two starts of one program differ by as much.
    package static let leastDifference = 0.03
    /// With fewer runs, quartiles say nothing.
    package static let leastCount = 5

    /// The new median over the old one: below 1 is faster.
    package let ratio: Double
    /// Where the true ratio may lie.
    package let interval: ClosedRange<Double>
    package let verdict: Verdict
    /// The upper end for people. Where the old run's notch reaches zero there is none.
    package var upperBoundText: String { interval.upperBound < 1000 ? decimal(interval.upperBound, places: 3) : "more" }

    package init(_ new: LatencySummary, with old: LatencySummary) {
        ratio = new.median / old.median
        // A notch may reach below zero; a time does not.
        let least = 1e-9
        let low = max(new.median - new.notch, least) / (old.median + old.notch)
        let high = (new.median + new.notch) / max(old.median - old.notch, least)
        interval = min(low, ratio)...max(high, ratio)
        verdict =
            if new.count < Self.leastCount || old.count < Self.leastCount {
                .tooFewRuns
            } else if low > 1, ratio >= 1 + Self.leastDifference {
                .slower
            } else if high < 1, ratio <= 1 - Self.leastDifference {
                .faster
            } else {
                .same
            }
    }
}

/// The runs of a report beside those of an earlier one.
package struct ReportComparison: Sendable {
    /// A run, and what it is compared with.
    package struct Row: Sendable {
        package var configuration: BenchConfiguration
        package var median: Double
        package var counterpart: EarlierResults.Run?
        package var comparison: Comparison?

        /// The counterpart ran on another device or with other threads: the verdict is between devices.
        package var isAcrossDevices: Bool {
            counterpart.map { !$0.configuration.isSameDevice(as: configuration) } ?? false
        }

        init(_ run: BenchRun, beside counterpart: EarlierResults.Run?) {
            let summary = LatencySummary(run.latencies)
            configuration = run.configuration
            median = summary.median
            self.counterpart = counterpart
            comparison = counterpart.map { Comparison(summary, with: $0.summary) }
        }
    }

    package var earlier: EarlierResults
    package var rows: [Row]
    /// Earlier runs that nothing was compared with.
    package var leftOver: [BenchConfiguration]
    /// Why verdicts may be wrong, in one line; nil where nothing speaks against them.
    package var doubt: String?

    /// Finds each run's counterpart: the same model, precision, batch, scope and input, on the same device with the same
    /// threads; where there is none, the same on each other device, for that is how devices are compared.
    package init(_ runs: [BenchRun], with earlier: EarlierResults, on machine: MachineFacts? = nil) {
        self.earlier = earlier
        var isUsed = [Bool](repeating: false, count: earlier.runs.count)
        rows = []
        for run in runs {
            let same = earlier.runs.indices.filter { earlier.runs[$0].configuration.isSameTask(as: run.configuration) }
            let here = same.first { earlier.runs[$0].configuration.isSameDevice(as: run.configuration) }
            let counterparts = here.map { [$0] } ?? same
            for index in counterparts { isUsed[index] = true }
            rows +=
                counterparts.isEmpty
                ? [Row(run, beside: nil)] : counterparts.map { Row(run, beside: earlier.runs[$0]) }
        }
        leftOver = zip(earlier.runs, isUsed).filter { !$0.1 }.map(\.0.configuration)
        // Notches know how times vary within a run, not how the load changes from one to the next.
        let isBusy = (MachineFacts.isBusy(earlier.busyProcessorCount), MachineFacts.isBusy(machine?.busyProcessorCount))
        let busyRuns = [isBusy.0 ? "the earlier" : nil, isBusy.1 ? "the new" : nil].compactMap(\.self)
        doubt =
            busyRuns.isEmpty
            ? nil
            : "the machine was busy before \(busyRuns.listed(with: "and")) runs, so a difference may be the load's"
    }

    /// Whether something has become slower on its own device.
    package var hasSlowerRun: Bool { rows.contains { $0.comparison?.verdict == .slower && !$0.isAcrossDevices } }

    /// How verdicts are reached.
    package static let explanation = """
        faster, slower: the medians differ by at least 3 per cent, and the notches around them, \
        median ± 1.57 x (p75 - p25) / sqrt(runs), do not meet
        """
}
