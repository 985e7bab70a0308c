/// Timestamps of frames, each of which has to be later than the one before.
///
/// A pure value without threads.
struct TimestampOrder {
    private var last: Int?

    /// Accepts the next timestamp.
    ///
    /// - Throws: `timestampNotIncreasing`, and then nothing has changed.
    mutating func accept(_ timestamp: Int) throws(ImageSegmenterError) {
        if let last, timestamp <= last {
            throw .timestampNotIncreasing(timestampInMilliseconds: timestamp, lastTimestampInMilliseconds: last)
        }
        last = timestamp
    }
}
