import ModelGraph
import TestSupport
import Testing

@Suite("Pass: activations") struct ActivationFusionTests {
    @Test("A standalone activation is applied by the layer before it", arguments: Activation.allCases)
    func fusion(activation: Activation) throws {
        var graph = Graph(name: "fusion")
        let input = graph.addInput("input", [4, 4, 2])
        let other = graph.addInput("other", [4, 4, 3])
        let map = try graph.append("conv", pointwise(2, to: 3), [input])
        let active = try graph.append("conv/activation", .activation, [map], activation: activation)
        let sum = try graph.append("add", .add, [active, other])
        graph.outputs = [try graph.append("add/activation", .activation, [sum], activation: activation)]
        let result = graph.fusingActivations()
        #expect(result.layers.map(\.members) == [["conv", "conv/activation"], ["add", "add/activation"]])
        #expect(result.layers.map(\.activation) == [activation, activation])
        #expect(result.layers.map { result[$0.output].name } == ["conv/activation", "add/activation"])
        try expectSameValues(result, graph)
    }

    @Test("A value that is needed without the activation stays") func otherReaders() throws {
        var graph = Graph(name: "readers")
        let input = graph.addInput("input", [4, 4, 2])
        let read = try graph.append("read", pointwise(2, to: 2), [input])
        let active = try graph.append("read/relu", .activation, [read], activation: .relu)
        let sum = try graph.append("sum", .add, [read, active])
        let output = try graph.append("output", pointwise(2, to: 2), [sum])
        graph.outputs = [output, try graph.append("output/relu", .activation, [output], activation: .relu)]
        #expect(graph.fusingActivations().layers.count == 5)
    }

    @Test("A second activation stays, and so does one after a layer that applies none") func chains() throws {
        var graph = Graph(name: "chains")
        let input = graph.addInput("input", [4, 4, 2])
        var map = try graph.append("conv", pointwise(2, to: 2), [input])
        map = try graph.append("sigmoid", .activation, [map], activation: .sigmoid)
        map = try graph.append("hardSwish", .activation, [map], activation: .hardSwish)
        map = try graph.append("pool", .maxPool(Pool(kernel: 2, stride: 1)), [map])
        graph.outputs = [try graph.append("relu", .activation, [map], activation: .relu)]
        let result = graph.fusingActivations()
        #expect(operators(result) == ["conv2d 1x1", "activation", "maxPool 2x2", "activation"])
        try expectSameValues(result, graph)
    }
}
