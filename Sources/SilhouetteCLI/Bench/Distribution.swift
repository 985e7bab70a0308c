/// What a series of measurements says.
package struct Distribution: Sendable, Equatable {
    /// The smallest.
    package let min: Double
    /// A quarter is below.
    package let p25: Double
    /// Half are below.
    package let median: Double
    /// Three quarters are below.
    package let p75: Double
    /// 95 of 100 are below.
    package let p95: Double
    /// 99 of 100 are below.
    package let p99: Double
    /// The largest.
    package let max: Double

    /// Summarises at least one measurement.
    package init(_ values: [Double]) {
        let sorted = values.sorted()
        // Linear between the closest ranks, as numpy.percentile does.
        func quantile(_ fraction: Double) -> Double {
            let position = fraction * Double(sorted.count - 1)
            let low = Int(position)
            let high = Swift.min(low + 1, sorted.count - 1)
            return sorted[low] + (sorted[high] - sorted[low]) * (position - Double(low))
        }
        min = sorted[0]
        p25 = quantile(0.25)
        median = quantile(0.5)
        p75 = quantile(0.75)
        p95 = quantile(0.95)
        p99 = quantile(0.99)
        max = sorted[sorted.count - 1]
    }
}
