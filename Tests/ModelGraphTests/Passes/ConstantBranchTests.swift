import ModelGraph
import TestSupport
import Testing

@Suite("Pass: constant branches") struct ConstantBranchTests {
    /// A concatenation of maps and broadcasts, in the order given, in front of a pointwise convolution.
    private func graph(_ isConstant: [Bool], to outputs: Int = 3) throws -> Graph {
        var graph = Graph(name: "branches")
        let input = graph.addInput("input", [5, 4, 2])
        let parts = try isConstant.enumerated().map { index, isConstant in
            if !isConstant {
                return try graph.append("map \(index)", pointwise(2, to: index + 1, seed: UInt64(index)), [input])
            }
            let mean = try graph.append("mean \(index)", .globalAveragePool, [input])
            let pooled = try graph.append("pooled \(index)", pointwise(2, to: index + 2), [mean], activation: .relu)
            return try graph.append("spread \(index)", .resizeBilinear([5, 4], .alignCorners), [pooled])
        }
        let all = try graph.append("concat", .concatenate, parts)
        graph.outputs = [
            try graph.append("scores", pointwise(graph.shape(of: all).channels, to: outputs), [all], activation: .relu)
        ]
        return graph
    }

    @Test("Beside one map, neither concatenation nor resize is left") func oneMap() throws {
        for order in [[true, false], [false, true]] {
            let graph = try graph(order)
            let result = graph.foldingConstantBranches()
            #expect(!operators(result).contains("concat") && !operators(result).contains("resizeBilinear"))
            let last = try #require(result.layers.last)
            #expect(last.members == ["concat", "scores"])
            #expect(last.activation == .relu)
            let bias = try #require(result.layers.first { $0.output == last.pictureBias })
            #expect(bias.members == ["spread \(order[0] ? 0 : 1)", "scores"])
            #expect(bias.convolution?.bias == nil && bias.activation == .none)
            // All but the constant channels' share of the work is left, and one pixel of that.
            let constantChannels = order[0] ? 2 : 3
            #expect(result.macCount == graph.macCount - (5 * 4 - 1) * constantChannels * 3)
            #expect(result.parameterCount == graph.parameterCount)
            try expectSameValues(result, graph)
        }
    }

    @Test("Several of each kind, in every order")
    func orders() throws {
        for bits in 0..<16 {
            let order = (0..<4).map { bits >> $0 & 1 == 1 }
            let graph = try graph(order)
            let result = graph.foldingConstantBranches()
            try expectSameValues(result, graph, "\(order)")
            let isFolded = order.contains(true) && order.contains(false)
            #expect(result.layers.contains { $0.pictureBias != nil } == isFolded, "\(order)")
        }
    }

    @Test("A concatenation that others read too stays") func otherReaders() throws {
        var graph = try graph([true, false])
        let concat = try #require(graph.layers.first { $0.name == "concat" })
        graph.outputs.append(concat.output)
        #expect(graph.foldingConstantBranches().layers.map(\.name) == graph.layers.map(\.name))
    }

    @Test("A window of more than a pixel sees zeros beside the constant, so nothing is folded") func windows() throws {
        var random = SeededGenerator(seed: 3)
        var graph = try graph([true, false])
        let concat = try #require(graph.layers.first { $0.name == "concat" }).output
        let channels = graph.shape(of: concat).channels
        let convolution = Convolution(weights: random.weights([2, channels, 3, 3], fanIn: channels * 9), padding: 1)
        graph.outputs = [try graph.append("window", .convolution(convolution), [concat])]
        let result = graph.foldingConstantBranches()
        #expect(operators(result).contains("concat"))
        try expectSameValues(result, graph)
    }
}
