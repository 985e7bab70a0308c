import ModelGraph
import TestSupport
import Testing

@Suite("Pass: residual additions") struct ResidualAddTests {
    @Test("The convolution before an addition adds, then applies the addition's activation") func fusion() throws {
        for isFirst in [true, false] {
            var graph = Graph(name: "fusion")
            let input = graph.addInput("input", [4, 4, 2])
            let map = try graph.append("conv", pointwise(2, to: 2), [input])
            graph.outputs = [
                try graph.append("add", .add, isFirst ? [map, input] : [input, map], activation: .relu)
            ]
            let result = graph.fusingResidualAdds()
            #expect(result.layers.map(\.members) == [["conv", "add"]])
            #expect(result.layers[0].residual == result.inputs[0])
            #expect(result.layers[0].activation == .relu)
            try expectSameValues(result, graph)
        }
    }

    @Test("The other input may be computed later than the convolution") func order() throws {
        var graph = Graph(name: "order")
        let input = graph.addInput("input", [4, 4, 2])
        let early = try graph.append("early", pointwise(2, to: 2), [input])
        let late = try graph.append("late", .softmax, [input])
        graph.outputs = [try graph.append("add", .add, [early, late])]
        let result = graph.fusingResidualAdds()
        #expect(result.layers.map(\.members) == [["late"], ["early", "add"]])
        try expectSameValues(result, graph)
    }

    @Test("Of two convolutions the later one adds; a third sum goes on from there") func choice() throws {
        var graph = Graph(name: "choice")
        let input = graph.addInput("input", [4, 4, 2])
        let first = try graph.append("first", pointwise(2, to: 2, seed: 1), [input])
        let second = try graph.append("second", pointwise(2, to: 2, seed: 2), [input])
        let sum = try graph.append("sum", .add, [second, first])
        let third = try graph.append("third", pointwise(2, to: 2, seed: 3), [input])
        graph.outputs = [try graph.append("total", .add, [sum, third])]
        let result = graph.fusingResidualAdds()
        #expect(result.layers.map(\.members) == [["first"], ["second", "sum"], ["third", "total"]])
        try expectSameValues(result, graph)
    }

    @Test("Additions that repeat a pixel, double a value or follow an activation stay") func refusals() throws {
        var graph = Graph(name: "refusals")
        let input = graph.addInput("input", [4, 4, 2])
        let mean = try graph.append("mean", .globalAveragePool, [input])
        let map = try graph.append("map", pointwise(2, to: 2), [input])
        let repeated = try graph.append("repeated", .add, [map, mean])
        let twice = try graph.append("twice", pointwise(2, to: 2), [repeated])
        let doubled = try graph.append("doubled", .add, [twice, twice])
        let active = try graph.append("active", pointwise(2, to: 2), [doubled], activation: .relu)
        let sum = try graph.append("sum", .add, [active, doubled])
        let output = try graph.append("output", pointwise(2, to: 2), [sum])
        graph.outputs = [output, try graph.append("last", .add, [output, sum])]
        let result = graph.fusingResidualAdds()
        #expect(result.layers.map(\.name) == graph.layers.map(\.name))
        #expect(result.layers.allSatisfy { $0.residual == nil })
    }
}
