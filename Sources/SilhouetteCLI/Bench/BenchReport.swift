import Silhouette

/// All that one call of `bench` found.
package struct BenchReport: Sendable {
    /// One place of a sweep.
    package enum Outcome: Sendable {
        case run(BenchRun)
        case failure(BenchFailure)
    }

    package var machine: MachineFacts
    /// In the order of the sweep.
    package var outcomes: [Outcome]
    /// Where it was asked for.
    package var comparison: ReportComparison?

    package init(machine: MachineFacts, outcomes: [Outcome] = []) {
        self.machine = machine
        self.outcomes = outcomes
    }

    /// The runs that could be done.
    package var runs: [BenchRun] {
        outcomes.compactMap { outcome in
            guard case .run(let run) = outcome else { return nil }
            return run
        }
    }

    /// The runs that could not.
    package var failures: [BenchFailure] {
        outcomes.compactMap { outcome in
            guard case .failure(let failure) = outcome else { return nil }
            return failure
        }
    }
}

extension BenchReport {
    /// Computes the floors of all layers.
    ///
    /// A rate that a layer of some weight has reached is one that the device can reach: on a busy machine the
    /// calibration may have been less lucky.
    package mutating func setFloors() {
        var best: [Precision: DeviceRates] = [:]
        for run in runs {
            guard var rates = best[run.configuration.precision] ?? run.rates, rates.gigaflops > 0 else { continue }
            let sum = run.layerSum
            for layer in run.layers where layer.milliseconds > sum / 100 {
                guard let work = layer.work else { continue }
                rates.learn(from: work, in: layer.milliseconds)
            }
            best[run.configuration.precision] = rates
        }
        for index in outcomes.indices {
            guard case .run(var run) = outcomes[index], let rates = best[run.configuration.precision] else { continue }
            run.rates = rates
            for layer in run.layers.indices {
                run.layers[layer].floorMilliseconds = run.layers[layer].work.flatMap { rates.floor(of: $0) }
            }
            outcomes[index] = .run(run)
        }
    }
}

/// What the floors of layers are.
package let floorExplanation = """
    what the layer would take at the best rates measured on this device, those of one large convolution, one large \
    addition or a layer that did better; whichever takes longer: its operations, or the bytes that it must move. \
    Where the best rate is that of a few MB, it may be a cache's, which layers that move more cannot reach
    """
