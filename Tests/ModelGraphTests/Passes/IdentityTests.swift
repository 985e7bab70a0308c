import ModelGraph
import TestSupport
import Testing

@Suite("Pass: identities") struct IdentityTests {
    @Test("A resize to the same size goes, under every convention", arguments: ResizeConvention.allCases)
    func resizes(convention: ResizeConvention) throws {
        var graph = Graph(name: "resize")
        let input = graph.addInput("input", [5, 4, 2])
        let scores = try graph.append("scores", pointwise(2, to: 3), [input])
        let same = try graph.append("same", .resizeBilinear([5, 4], convention), [scores])
        graph.outputs = [try graph.append("large", .resizeBilinear([9, 7], convention), [same])]
        let result = graph.droppingIdentities()
        #expect(result.layers.map(\.members) == [["scores", "same"], ["large"]])
        try expectSameValues(result, graph)
    }

    @Test("Pools of one pixel, concatenations of one tensor and empty activations go") func others() throws {
        var graph = Graph(name: "others")
        let input = graph.addInput("input", [3, 3, 2])
        var map = try graph.append("conv", pointwise(2, to: 2), [input])
        map = try graph.append("concat", .concatenate, [map])
        map = try graph.append("average", .averagePool(Pool(kernel: 1, stride: 1)), [map])
        map = try graph.append("maximum", .maxPool(Pool(kernel: 1, stride: 1)), [map])
        map = try graph.append("none", .activation, [map])
        let mean = try graph.append("mean", .globalAveragePool, [map])
        graph.outputs = [try graph.append("mean of one", .globalAveragePool, [mean])]
        let result = graph.droppingIdentities()
        #expect(
            result.layers.map(\.members)
                == [["conv", "concat", "average", "maximum", "none"], ["mean", "mean of one"]])
        try expectSameValues(result, graph)
    }

    @Test("Pools that step over pixels stay") func strides() throws {
        var graph = Graph(name: "strides")
        let input = graph.addInput("input", [3, 3, 2])
        let pool = try graph.append("pool", .maxPool(Pool(kernel: 1, stride: 2)), [input])
        graph.outputs = [try graph.append("relu", .activation, [pool], activation: .relu)]
        #expect(graph.droppingIdentities().layers.count == 2)
    }

    @Test("An activation after one that bounds its values goes") func activations() throws {
        for first in Activation.allCases {
            for second in Activation.allCases {
                var graph = Graph(name: "\(first) \(second)")
                let input = graph.addInput("input", [6, 6, 2])
                let map = try graph.append("conv", pointwise(2, to: 2), [input], activation: first)
                graph.outputs = [try graph.append("again", .activation, [map], activation: second)]
                let result = graph.droppingIdentities()
                try expectSameValues(result, graph, "\(first), then \(second)")
                let goes =
                    second == .none || (second == .relu && [.relu, .relu6, .hardSigmoid, .sigmoid].contains(first))
                    || (second == .relu6 && [.relu6, .hardSigmoid, .sigmoid].contains(first))
                #expect((result.layers.count == 1) == goes, "\(first), then \(second)")
            }
        }
    }

    @Test("An output is never an input, and no two outputs become one tensor") func outputs() throws {
        var graph = Graph(name: "outputs")
        let input = graph.addInput("input", [3, 3, 2])
        let copy = try graph.append("copy", .activation, [input])
        let map = try graph.append("map", .activation, [copy], activation: .relu)
        let mapCopy = try graph.append("map copy", .concatenate, [map])
        graph.outputs = [copy, map, mapCopy]
        let result = graph.droppingIdentities()
        #expect(result.layers.map(\.name) == ["copy", "map", "map copy"])
        #expect(Set(result.outputs).count == 3)
        try expectSameValues(result, graph)
    }
}
