import ModelGraph
import TestSupport
import Testing

@Suite("Memory planner") struct MemoryPlanTests {
    /// The first two requests that are in use at the same time and share a byte.
    private func firstConflict(_ requests: [MemoryRequest], _ plan: MemoryPlan) -> (Int, Int)? {
        for first in requests.indices {
            for second in requests.indices where first < second && requests[first].overlapsInTime(requests[second]) {
                let (a, b) = (plan.offsets[first], plan.offsets[second])
                if a < b + requests[second].byteCount, b < a + requests[first].byteCount { return (first, second) }
            }
        }
        return nil
    }

    @Test("The drawing in the documentation is what the planner does") func drawing() {
        let requests = [
            MemoryRequest(byteCount: 4, first: 0, last: 1), MemoryRequest(byteCount: 2, first: 1, last: 2),
            MemoryRequest(byteCount: 3, first: 2, last: 3), MemoryRequest(byteCount: 1, first: 3, last: 3),
        ]
        let plan = MemoryPlan(requests, alignment: 1)
        #expect(plan.offsets == [0, 4, 0, 3])
        #expect(plan.byteCount == 6)
        #expect(MemoryPlan.peakByteCount(requests) == 6)
    }

    @Test("No two requests that are in use at one step share a byte") func disjoint() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let stepCount = random.integer(1...40)
            let alignment = random.pick([1, 4, 64, 100])
            let requests = (0..<random.integer(0...60)).map { _ in
                let first = random.integer(0...stepCount)
                return MemoryRequest(
                    byteCount: random.integer(0...3) == 0 ? 0 : random.integer(1...1_000), first: first,
                    last: first + random.integer(0...5))
            }
            let plan = MemoryPlan(requests, alignment: alignment)
            #expect(firstConflict(requests, plan) == nil, "seed \(seed)")
            #expect(plan.offsets.allSatisfy { $0 >= 0 && $0 % alignment == 0 }, "seed \(seed)")
            #expect(plan.byteCount % alignment == 0, "seed \(seed)")
            let ends = zip(plan.offsets, requests).map { $0 + $1.byteCount }
            #expect(ends.allSatisfy { $0 <= plan.byteCount }, "seed \(seed)")

            let sizes = requests.map { ($0.byteCount + alignment - 1) / alignment * alignment }
            #expect(plan.byteCount <= sizes.reduce(0, +), "seed \(seed)")
            #expect(plan.byteCount >= MemoryPlan.peakByteCount(requests), "seed \(seed)")
        }
    }

    @Test("What is written after the last read of something else may take its place, not before") func succession() {
        let read = MemoryRequest(byteCount: 64, first: 0, last: 4)
        let writtenWhileRead = MemoryRequest(byteCount: 64, first: 4, last: 5)
        let writtenLater = MemoryRequest(byteCount: 64, first: 5, last: 6)
        #expect(MemoryPlan([read, writtenWhileRead]).byteCount == 128)
        #expect(MemoryPlan([read, writtenLater]).byteCount == 64)
    }

    @Test("A write that nobody reads harms no other") func writeAfterWrite() throws {
        // Both results of step 1 are written there; only one is read later.
        let unread = MemoryRequest(byteCount: 64, first: 1, last: 1)
        let kept = MemoryRequest(byteCount: 64, first: 0, last: 3)
        let plan = MemoryPlan([kept, unread])
        #expect(firstConflict([kept, unread], plan) == nil)

        // The same as a graph: `unread` is written while `kept` waits for its reader.
        var graph = Graph(name: "unread")
        let input = graph.addInput("input", Shape(height: 4, width: 4, channels: 4))
        let first = try graph.append("kept", .activation, [input], activation: .relu)
        let dead = try graph.append("unread", .activation, [input], activation: .sigmoid)
        graph.outputs = [try graph.append("sum", .add, [first, input])]
        #expect(graph.lifetimes[dead.index] == 1...1)
        let requests = graph.memoryRequests()
        #expect(firstConflict(requests, MemoryPlan(requests)) == nil)
    }

    @Test("Tensors live from their writer to their last reader, outputs to the end") func lifetimes() throws {
        var graph = Graph(name: "lifetimes")
        let input = graph.addInput("input", Shape(height: 2, width: 3, channels: 5))
        let unused = graph.addInput("unused", Shape(height: 1, width: 1, channels: 1))
        let early = try graph.append("early", .activation, [input], activation: .relu)
        let middle = try graph.append("middle", .activation, [early], activation: .relu)
        let late = try graph.append("late", .add, [middle, early])
        let last = try graph.append("last", .activation, [late], activation: .relu)
        graph.outputs = [middle, last]
        #expect(graph.lifetimes[input.index] == 0...0)
        #expect(graph.lifetimes[unused.index] == 0...0)
        #expect(graph.lifetimes[early.index] == 0...2)
        #expect(graph.lifetimes[middle.index] == 1...3)
        #expect(graph.lifetimes[late.index] == 2...3)
        #expect(graph.lifetimes[last.index] == 3...3)
        #expect(graph.memoryRequests(batch: 3, elementByteCount: 2)[late.index].byteCount == 3 * 30 * 2)
        #expect(Graph(name: "empty").lifetimes.isEmpty)
    }

    @Test("Residuals and picture biases are kept until they are added") func additionalReads() throws {
        var graph = Graph(name: "reads")
        let shape = Shape(height: 2, width: 2, channels: 1)
        let input = graph.addInput("input", shape)
        let one = Weights(shape: [1, 1, 1, 1], values: [1])
        let residual = try graph.append("residual", .activation, [input], activation: .relu)
        let mean = try graph.append("mean", .globalAveragePool, [input])
        let map = try graph.append("map", .activation, [input], activation: .relu6)
        graph.outputs = [
            try graph.append(
                "sum", .convolution(Convolution(weights: one)), [map], residual: residual, pictureBias: mean)
        ]
        #expect(graph.lifetimes[residual.index] == 0...3)
        #expect(graph.lifetimes[mean.index] == 1...3)
    }

    @Test("Random graphs get plans without conflicts, and no larger than needed by a third") func graphs() throws {
        var (planned, needed) = (0, 0)
        for seed in 0..<100 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let requests = try random.graph(layerCount: 30).memoryRequests()
            let plan = MemoryPlan(requests, alignment: 4)
            #expect(firstConflict(requests, plan) == nil, "seed \(seed)")
            planned += plan.byteCount
            needed += MemoryPlan.peakByteCount(requests)
        }
        #expect(planned * 3 <= needed * 4)
    }

    @Test("DeepLabV3 at 257x257 gets within a tenth of the lower bound") func deepLab() throws {
        let requests = try SmallGraphs.deepLab257().optimized().separatingHead().trunk.memoryRequests()
        let plan = MemoryPlan(requests)
        #expect(MemoryPlan.peakByteCount(requests) == 4_530_240)
        #expect(plan.byteCount == 4_878_720)
        #expect(firstConflict(requests, plan) == nil)
    }
}
