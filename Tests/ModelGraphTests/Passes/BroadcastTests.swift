import ModelGraph
import TestSupport
import Testing

@Suite("Pass: broadcasts") struct BroadcastTests {
    @Test("What follows a broadcast pixel by pixel is computed once", arguments: ResizeConvention.allCases)
    func delay(convention: ResizeConvention) throws {
        var graph = Graph(name: "delay")
        let input = graph.addInput("input", [5, 4, 2])
        let mean = try graph.append("mean", .globalAveragePool, [input])
        let spread = try graph.append("spread", .resizeBilinear([5, 4], convention), [mean])
        let map = try graph.append("conv", pointwise(2, to: 3, stride: 2), [spread])
        let active = try graph.append("relu", .activation, [map], activation: .relu)
        let larger = try graph.append("larger", .resizeBilinear([7, 9], convention), [active])
        graph.outputs = [try graph.append("softmax", .softmax, [larger])]
        let result = graph.delayingBroadcasts()
        #expect(
            operators(result) == ["globalAveragePool", "conv2d 1x1", "activation", "softmax", "resizeBilinear"])
        #expect(result.layers.last?.members == ["spread", "larger"])
        try expectSameValues(result, graph)
    }

    @Test("Sums and products take the pixel instead of its broadcast") func elementwise() throws {
        for operation in [Operation.add, .multiply] {
            var graph = Graph(name: "elementwise")
            let input = graph.addInput("input", [5, 4, 2])
            let mean = try graph.append("mean", .globalAveragePool, [input])
            let spread = try graph.append("spread", .resizeBilinear([5, 4], .halfPixel), [mean])
            graph.outputs = [try graph.append("combined", operation, [input, spread])]
            let result = graph.delayingBroadcasts()
            #expect(result.layers.map(\.members) == [["mean"], ["spread", "combined"]])
            try expectSameValues(result, graph)
        }
    }

    @Test("Several broadcasts are combined before they are spread") func combination() throws {
        var graph = Graph(name: "combination")
        let input = graph.addInput("input", [5, 4, 2])
        let mean = try graph.append("mean", .globalAveragePool, [input])
        let first = try graph.append("first", .resizeBilinear([3, 2], .halfPixel), [mean])
        let second = try graph.append("second", .resizeBilinear([3, 2], .asymmetric), [mean])
        let both = try graph.append("both", .concatenate, [first, second])
        let sum = try graph.append("sum", .add, [first, mean])
        graph.outputs = [both, sum]
        let result = graph.delayingBroadcasts()
        #expect(operators(result) == ["globalAveragePool", "concat", "resizeBilinear", "add", "resizeBilinear"])
        try expectSameValues(result, graph)
    }

    @Test("What looks at neighbours stays behind the broadcast, for its padding is not constant") func neighbours()
        throws
    {
        var random = SeededGenerator(seed: 1)
        var graph = Graph(name: "neighbours")
        let input = graph.addInput("input", [5, 4, 2])
        let mean = try graph.append("mean", .globalAveragePool, [input])
        let spread = try graph.append("spread", .resizeBilinear([5, 4], .alignCorners), [mean])
        let convolution = Convolution(weights: random.weights([2, 2, 3, 3], fanIn: 18), padding: 1)
        graph.outputs = [try graph.append("conv", .convolution(convolution), [spread])]
        let result = graph.delayingBroadcasts()
        #expect(operators(result) == ["globalAveragePool", "resizeBilinear", "conv2d 3x3"])
        try expectSameValues(result, graph)
    }

    @Test("Names that a file took already are not used again") func names() throws {
        var graph = Graph(name: "names")
        let input = graph.addInput("conv/1x1", [5, 4, 2])
        let mean = try graph.append("conv/broadcast", .globalAveragePool, [input])
        let spread = try graph.append("spread", .resizeBilinear([5, 4], .alignCorners), [mean])
        graph.outputs = [try graph.append("conv", pointwise(2, to: 2), [spread])]
        try expectSameValues(graph.delayingBroadcasts(), graph)
    }

    @Test("A broadcast that is added to itself again and again is named once") func doubling() throws {
        var graph = Graph(name: "doubling")
        let input = graph.addInput("input", [5, 4, 2])
        let mean = try graph.append("mean", .globalAveragePool, [input])
        var map = try graph.append("spread", .resizeBilinear([5, 4], .alignCorners), [mean])
        for index in 0..<100 { map = try graph.append("add \(index)", .add, [map, map]) }
        graph.outputs = [map]
        #expect(graph.delayingBroadcasts().layers.last?.members == ["spread"])
    }
}
