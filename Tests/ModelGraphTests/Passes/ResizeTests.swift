import ModelGraph
import TestSupport
import Testing

@Suite("Pass: resizes") struct ResizeTests {
    /// input -> resize -> pointwise convolution.
    private func graph(
        _ size: Extent, _ convention: ResizeConvention = .halfPixel, to channels: Int = 2, stride: Int = 1,
        activation: Activation = .none
    ) throws -> Graph {
        var graph = Graph(name: "resize")
        let input = graph.addInput("input", [3, 4, 4])
        let large = try graph.append("resize", .resizeBilinear(size, convention), [input])
        graph.outputs = [
            try graph.append("conv", pointwise(4, to: channels, stride: stride), [large], activation: activation)
        ]
        return graph
    }

    @Test("A pointwise convolution goes before the resize", arguments: ResizeConvention.allCases)
    func commute(convention: ResizeConvention) throws {
        for size in [[6, 8], [5, 11], [3, 5]] as [Extent] {
            let graph = try graph(size, convention)
            let result = graph.delayingResizes()
            #expect(result.layers.map(\.name) == ["conv", "resize"])
            #expect(result.layers.map(\.members) == [["conv"], ["resize"]])
            #expect(result.macCount == 3 * 4 * 4 * 2)
            try expectSameValues(result, graph)
        }
    }

    @Test("Nothing moves where it would not commute, or would cost more") func refusals() throws {
        let refused = try [
            graph([2, 2]), graph([6, 8], to: 5), graph([6, 8], stride: 2), graph([6, 8], activation: .relu),
        ]
        for graph in refused { #expect(graph.delayingResizes().layers.map(\.name) == ["resize", "conv"]) }
    }

    @Test("A resize that others read too stays") func otherReaders() throws {
        var graph = try graph([6, 8])
        graph.outputs.append(graph.layers[0].output)
        #expect(graph.delayingResizes().layers.map(\.name) == ["resize", "conv"])
    }

    @Test("Two convolutions go before one resize") func chain() throws {
        var graph = try graph([6, 8])
        graph.outputs = [try graph.append("second", pointwise(2, to: 1), [graph.outputs[0]])]
        let result = graph.delayingResizes()
        #expect(result.layers.map(\.name) == ["conv", "second", "resize"])
        try expectSameValues(result, graph)
    }
}
