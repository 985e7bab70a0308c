/// Lets events pass at a rate: a bucket that fills by so many tokens a second and holds a few.
package struct RateLimiter {
    /// Events a second.
    package let rate: Double
    /// Events that may come at once.
    package let burst: Double
    private var tokens: Double
    private var last: ContinuousClock.Instant?

    /// Creates a full bucket.
    package init(rate: Double, burst: Double) {
        self.rate = rate
        self.burst = burst
        tokens = burst
    }

    /// Whether an event may pass now; it then counts.
    package mutating func admits(at now: ContinuousClock.Instant) -> Bool {
        if let last, now > last { tokens = min(burst, tokens + (now - last) / .seconds(1) * rate) }
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
