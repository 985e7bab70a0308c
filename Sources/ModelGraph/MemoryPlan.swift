/// Memory that is needed during an interval of time.
package struct MemoryRequest: Hashable, Sendable {
    package var byteCount: Int
    /// First step at which the memory is in use.
    package var first: Int
    /// Last step at which it is in use. Another request may have the memory from the next step on.
    package var last: Int

    /// Creates a request for `byteCount` bytes from step `first` to step `last`, both included.
    package init(byteCount: Int, first: Int, last: Int) {
        precondition(byteCount >= 0 && first <= last)
        self.byteCount = byteCount
        self.first = first
        self.last = last
    }

    /// Whether both are in use at some step.
    package func overlapsInTime(_ other: MemoryRequest) -> Bool { first <= other.last && other.first <= last }
}

/// A place in one arena for every request, such that no two that are in use at the same step share a byte.
///
/// Greedy by size, after Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020): the
/// largest request is placed first; each following one takes the smallest gap that fits between those in use at the
/// same time. Requests 0 to 3, of 4, 2, 3 and 1 bytes, one after another, each alive until the next has been written:
///
/// ```
///  byte  step 0   1   2   3
///   5     |     | 1 | 1 |   |
///   4     |     | 1 | 1 |   |
///   3     | 0   | 0 |   |   |
///   2     | 0   | 0 | 2 | 2 |
///   1     | 0   | 0 | 2 | 2 |
///   0     | 0   | 0 | 2 | 2 |     6 bytes instead of 10 (3 is at byte 3 in step 3)
/// ```
package struct MemoryPlan: Sendable {
    /// Where each request begins, in bytes from the start of the arena, in the order of the requests.
    package let offsets: [Int]
    package let byteCount: Int

    /// - Parameter alignment: Every offset and the size of the arena is a multiple of this many bytes.
    package init(_ requests: [MemoryRequest], alignment: Int = 64) {
        precondition(alignment > 0)
        let sizes = requests.map { ($0.byteCount + alignment - 1) / alignment * alignment }
        var offsets = [Int](repeating: 0, count: requests.count)
        var end = 0
        // Sorted by offset, so that one walk sees the gaps in order.
        var placed: [Int] = []
        let order = requests.indices.sorted { (sizes[$1], $0) < (sizes[$0], $1) }
        for index in order where sizes[index] > 0 {
            var best: (offset: Int, gap: Int)?
            var free = 0
            for other in placed where requests[other].overlapsInTime(requests[index]) {
                let gap = offsets[other] - free
                if gap >= sizes[index], gap < best?.gap ?? .max { best = (free, gap) }
                free = max(free, offsets[other] + sizes[other])
            }
            offsets[index] = best?.offset ?? free
            end = max(end, offsets[index] + sizes[index])
            let position = placed.firstIndex { offsets[$0] > offsets[index] } ?? placed.endIndex
            placed.insert(index, at: position)
        }
        self.offsets = offsets
        byteCount = end
    }

    /// The most bytes in use at any one step: no plan can do with less.
    package static func peakByteCount(_ requests: [MemoryRequest]) -> Int {
        var changes: [(step: Int, byteCount: Int)] = []
        for request in requests {
            changes.append((request.first, request.byteCount))
            changes.append((request.last + 1, -request.byteCount))
        }
        var (live, peak) = (0, 0)
        // At one step, what ends goes before what begins.
        for change in changes.sorted(by: { $0 < $1 }) {
            live += change.byteCount
            peak = max(peak, live)
        }
        return peak
    }
}

extension Graph {
    /// For each tensor, the layers during which its values are needed, by their positions in `layers`.
    ///
    /// Inputs live from the first layer on, outputs to the last. A tensor that nobody reads lives at the layer that
    /// writes it, so that the write harms no other.
    package var lifetimes: [ClosedRange<Int>] {
        let end = max(0, layers.count - 1)
        var first = [Int](repeating: 0, count: tensors.count)
        var last = first
        for (step, layer) in layers.enumerated() {
            first[layer.output.index] = step
            last[layer.output.index] = step
            for tensor in layer.reads { last[tensor.index] = step }
        }
        for output in outputs { last[output.index] = end }
        return zip(first, last).map { $0...$1 }
    }

    /// A request for each tensor, at `elementByteCount` bytes a value.
    package func memoryRequests(batch: Int = 1, elementByteCount: Int = 4) -> [MemoryRequest] {
        zip(tensors, lifetimes).map { tensor, lifetime in
            MemoryRequest(
                byteCount: batch * tensor.shape.elementCount * elementByteCount, first: lifetime.lowerBound,
                last: lifetime.upperBound)
        }
    }
}
