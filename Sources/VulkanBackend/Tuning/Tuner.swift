import Base
import ModelGraph
import VulkanCompute

/// Measures one layer in its variants.
package protocol LayerTiming: AnyObject {
    /// How long the layer takes; nil where its bytes are not those of the variant that was measured first.
    func seconds(_ variant: KernelVariant) throws(VulkanError) -> Double?
}

/// Finds out on the device which variant of each convolution is the fastest.
///
/// The heaviest shapes come first. When the time is over, the others are computed in their standard variants, and their turn comes
/// in the next process. A layer that cannot be measured keeps its standard variant; only the end of the device is an error.
package final class Tuner: VariantChooser {
    private struct State {
        var record: TuningRecord
        /// What was chosen in this process, or read from the record.
        var variants: [ConvolutionShape: KernelVariant] = [:]
        var secondsLeft: Double
        var summary: TuningSummary
    }

    package typealias MakeTimer = (_ alone: Graph, PlanSettings) throws(VulkanError) -> any LayerTiming

    private let level: TuningLevel
    private let limits: DeviceLimits
    /// What the same shapes may be computed by differently.
    private let shaderDigest: String
    private let now: @Sendable () -> Double
    /// Prepares the measurements of one call, which may share what they like.
    private let prepare: @Sendable () -> MakeTimer
    /// Held while measuring: two measurements at once would disturb each other.
    private let state: Locked<State>
    private let latestSummary: Locked<TuningSummary>

    /// By how much another variant must be faster than the standard one: less may be chance.
    private static let leastGain = 0.03
    /// How many measurements may have begun and never come to an end before only full tries again.
    private static let attemptLimit = 3

    /// - Parameters:
    ///   - record: What is known from earlier runs.
    ///   - now: A clock, in seconds.
    package init(
        _ level: TuningLevel, limits: DeviceLimits, record: TuningRecord, shaderDigest: String,
        now: @escaping @Sendable () -> Double, prepare: @escaping @Sendable () -> MakeTimer
    ) {
        self.level = level
        self.limits = limits
        self.shaderDigest = shaderDigest
        self.now = now
        self.prepare = prepare
        let summary = TuningSummary(level: level)
        state = Locked(State(record: record, secondsLeft: level.seconds, summary: summary))
        latestSummary = Locked(summary)
    }

    /// What has been chosen so far, without waiting for measurements that are under way.
    package var summary: TuningSummary { latestSummary.withLock(\.self) }

    package func variants(for graph: Graph, _ settings: PlanSettings) throws(VulkanError)
        -> [ConvolutionShape: KernelVariant]
    {
        try state.withLock { state throws(VulkanError) in
            defer { latestSummary.withLock { $0 = state.summary } }
            var layers: [ConvolutionShape: (index: Int, work: Int)] = [:]
            for (index, layer) in graph.layers.enumerated() {
                guard let shape = ConvolutionShape(layer, in: graph, batch: settings.batch) else { continue }
                layers[shape, default: (index, 0)].work += graph.macCount(of: layer)
            }
            for shape in layers.keys where state.variants[shape] == nil {
                remember(shape, settings, in: &state)
            }
            let unknown = layers.filter { state.variants[$0.key] == nil }
                .sorted { ($0.value.work, $1.value.index) > ($1.value.work, $0.value.index) }
            if !unknown.isEmpty, state.secondsLeft > 0 {
                try measure(unknown.map { ($0.key, $0.value.index) }, of: graph, settings, in: &state)
            }
            state.summary.standardCount += layers.keys.count { state.variants[$0] == nil }
            return state.variants.filter { layers[$0.key] != nil }
        }
    }

    /// Takes a shape's variant from the record.
    private func remember(_ shape: ConvolutionShape, _ settings: PlanSettings, in state: inout State) {
        guard let entry = state.record[key(shape, settings)], entry.status.suffices(for: level) else { return }
        let standard = KernelVariant.standard(for: shape, settings)
        let isPossible = entry.variant == standard || entry.variant.isPossible(for: shape, settings, on: limits)
        guard isPossible else { return }
        state.variants[shape] = entry.variant
        if entry.status == .begun {
            state.summary.abandonedCount += 1
        } else {
            state.summary.add(entry.variant, insteadOf: standard, wasMeasured: false)
        }
    }

    private func measure(
        _ shapes: [(shape: ConvolutionShape, index: Int)], of graph: Graph, _ settings: PlanSettings,
        in state: inout State
    ) throws(VulkanError) {
        let makeTimer = prepare()
        let start = now()
        let end = start + state.secondsLeft
        // A driver that takes the process with it is not given a chance at every start.
        guard level == .full || state.record.unfinishedCount < Self.attemptLimit else { return }
        for (position, (shape, index)) in shapes.enumerated() {
            let standard = KernelVariant.standard(for: shape, settings)
            let before = state.record[key(shape, settings)]
            guard now() < end else {
                // What a quicker look has found is better than nothing.
                if let before, before.status != .begun, before.variant.isPossible(for: shape, settings, on: limits) {
                    state.variants[shape] = before.variant
                    state.summary.add(before.variant, insteadOf: standard, wasMeasured: false)
                }
                continue
            }
            state.record[key(shape, settings)] = .init(variant: standard, status: .begun)
            state.record.save()
            do throws(VulkanError) {
                let timer = try makeTimer(graph.isolatingLayer(at: index).graph, settings)
                let variant = try fastest(for: shape, settings, timer, until: end)
                state.record[key(shape, settings)] = .init(variant: variant, status: .init(level))
                state.variants[shape] = variant
                state.summary.add(variant, insteadOf: standard, wasMeasured: true)
            } catch {
                if error.isDeviceLost {
                    // Nor is a device that fails at this.
                    for (shape, _) in shapes[position...] {
                        state.record[key(shape, settings)] = .init(
                            variant: .standard(for: shape, settings), status: .begun)
                    }
                    state.record.save()
                    throw error
                }
                // There is too little memory for the scratch, say; that may be otherwise next time.
                state.summary.failedCount += 1
                state.record[key(shape, settings)] = before
                state.variants[shape] = standard
            }
        }
        let seconds = now() - start
        state.secondsLeft -= seconds
        state.summary.seconds += seconds
        state.record.save()
    }

    /// The fastest of a shape's variants, as far as there is time for them; the standard one where none is clearly faster.
    private func fastest(
        for shape: ConvolutionShape, _ settings: PlanSettings, _ timer: any LayerTiming, until end: Double
    ) throws(VulkanError) -> KernelVariant {
        let candidates = KernelVariant.candidates(for: shape, settings, level, on: limits)
        let standard = candidates[0]
        guard let first = try timer.seconds(standard) else { return standard }
        var best = (variant: standard, seconds: first)
        func tryOut(_ variants: some Sequence<KernelVariant>) throws(VulkanError) {
            for variant in variants {
                guard now() < end else { return }
                do throws(VulkanError) {
                    if let seconds = try timer.seconds(variant), seconds < best.seconds { best = (variant, seconds) }
                } catch {
                    // A driver that cannot compile a variant can do others.
                    if error.isDeviceLost { throw error }
                }
            }
        }
        try tryOut(candidates.dropFirst())
        if level == .full { try tryOut(best.variant.inOtherSizes(on: limits)) }
        guard best.variant != standard else { return standard }
        // Both once more: a card's clock may have risen since the first measurement, and the best of many was lucky, too.
        guard let again = try timer.seconds(standard), let seconds = try timer.seconds(best.variant) else {
            return standard
        }
        return seconds <= min(first, again) * (1 - Self.leastGain) ? best.variant : standard
    }

    private func key(_ shape: ConvolutionShape, _ settings: PlanSettings) -> String {
        var hash = FNV1a()
        // Where a device's standard variant is another, so is what counts as faster.
        hash.add("\(shaderDigest) \(settings.precision.rawValue) \(settings.readPath) \(shape.text)")
        return hash.digits
    }
}
