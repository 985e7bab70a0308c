/// What a tuner has chosen, for people.
package struct TuningSummary: Sendable {
    /// How much was tried.
    package let level: TuningLevel
    /// Shapes of convolutions that were measured in this process, and that were known from earlier ones.
    package internal(set) var measuredCount = 0, rememberedCount = 0
    /// Shapes for which there was no time, each time that they were met.
    package internal(set) var standardCount = 0
    /// Shapes that could not be measured.
    package internal(set) var failedCount = 0
    /// Shapes whose measurement ended the device or the program before, and that are left alone.
    package internal(set) var abandonedCount = 0
    /// What measuring took.
    package internal(set) var seconds = 0.0
    /// Shapes for each variant that was faster than the standard one.
    private var counts: [KernelVariant: Int] = [:]

    init(level: TuningLevel) { self.level = level }

    mutating func add(_ variant: KernelVariant, insteadOf standard: KernelVariant, wasMeasured: Bool) {
        if wasMeasured { measuredCount += 1 } else { rememberedCount += 1 }
        if variant != standard { counts[variant, default: 0] += 1 }
    }

    private static let listLength = 4

    /// One line, as in
    /// `full, 21 of 34 shapes computed faster: 12 as texels 2x2 64, 9 as storage 4x4 64 shared; measured 34 in 8.1 s`.
    package var text: String {
        let total = measuredCount + rememberedCount + standardCount + failedCount + abandonedCount
        let changed = counts.values.reduce(0, +)
        let sorted = counts.sorted { ($1.value, $0.key.description) < ($0.value, $1.key.description) }
        var list = sorted.prefix(Self.listLength).map { "\($0.value) as \($0.key)" }
        let others = sorted.dropFirst(Self.listLength).map(\.value).reduce(0, +)
        if others > 0 { list.append("\(others) in other ways") }
        var parts = [
            "\(level.rawValue), \(changed) of \(total) shapes computed faster"
                + (changed > 0 ? ": \(list.joined(separator: ", "))" : "")
        ]
        if measuredCount > 0 {
            let tenths = Int((seconds * 10).rounded())
            parts.append("measured \(measuredCount) in \(tenths / 10).\(tenths % 10) s")
        }
        if rememberedCount > 0 { parts.append("knew \(rememberedCount)") }
        if abandonedCount > 0 { parts.append("left \(abandonedCount) alone, whose measurement did not end before") }
        if failedCount > 0 { parts.append("could not measure \(failedCount)") }
        if standardCount > 0 { parts.append("no time for \(standardCount)") }
        return parts.joined(separator: "; ")
    }
}
