import ModelGraph
import TestSupport
import Testing

@Suite("Score head") struct ScoreHeadTests {
    private func graph(_ tail: [(String, ModelGraph.Operation, Activation)]) throws -> Graph {
        var graph = Graph(name: "head")
        var map = graph.addInput("input", [3, 4, 2])
        map = try graph.append("scores", pointwise(2, to: 3), [map])
        for (name, operation, activation) in tail {
            map = try graph.append(name, operation, [map], activation: activation)
        }
        graph.outputs = [map]
        return graph
    }

    /// The trunk with the head's layers put back.
    private func rejoined(_ trunk: Graph, _ head: ScoreHead, like graph: Graph) throws -> Graph {
        var joined = trunk
        var map = trunk.outputs[0]
        for (index, resize) in head.resizes.enumerated() {
            let isLast = index == head.resizes.count - 1 && head.activation == .none
            map = try joined.append(
                "resize \(index)", .resizeBilinear(resize.extent, resize.convention), [map],
                output: isLast ? graph[graph.outputs[0]].name : nil)
        }
        switch head.activation {
        case .none: break
        case .softmax: map = try joined.append("head", .softmax, [map], output: graph[graph.outputs[0]].name)
        case .sigmoid:
            map = try joined.append(
                "head", .activation, [map], activation: .sigmoid, output: graph[graph.outputs[0]].name)
        }
        joined.outputs = [map]
        return joined
    }

    private let small = ModelGraph.Operation.resizeBilinear([5, 7], .alignCorners)
    private let large = ModelGraph.Operation.resizeBilinear([9, 11], .halfPixel)

    @Test("Trailing resizes are cut off, in their order") func resizes() throws {
        let graph = try graph([("small", small, .none), ("large", large, .none)])
        let (trunk, head) = graph.separatingHead()
        #expect(trunk.layers.map(\.name) == ["scores"])
        #expect(
            head.resizes
                == [.init(extent: [5, 7], convention: .alignCorners), .init(extent: [9, 11], convention: .halfPixel)])
        #expect(head.activation == .none)
        #expect(head.members == ["small", "large"])
        try expectSameValues(rejoined(trunk, head, like: graph), graph)
    }

    @Test("A soft-max or sigmoid after the resizes goes with them") func activations() throws {
        for (operation, activation, expected) in [
            (ModelGraph.Operation.softmax, Activation.none, HeadActivation.softmax),
            (.activation, .sigmoid, .sigmoid),
        ] {
            let graph = try graph([("large", large, .none), ("last", operation, activation)])
            let (trunk, head) = graph.separatingHead()
            #expect(trunk.layers.map(\.name) == ["scores"])
            #expect(head.activation == expected)
            #expect(head.members == ["large", "last"])
            try expectSameValues(rejoined(trunk, head, like: graph), graph)
        }
    }

    @Test("What does not commute with a resize stays before it") func order() throws {
        let soft = try graph([("soft", .softmax, .none), ("large", large, .none)]).separatingHead()
        #expect(soft.trunk.layers.map(\.name) == ["scores", "soft"])
        #expect(soft.head.resizes.count == 1 && soft.head.activation == .none)

        let between = try graph([("small", small, .none), ("soft", .softmax, .none), ("large", large, .none)])
        #expect(between.separatingHead().trunk.layers.map(\.name) == ["scores", "small", "soft"])

        let relu = try graph([("large", large, .none), ("relu", .activation, .relu)])
        #expect(relu.separatingHead().head.resizes.isEmpty)
    }

    @Test("Without a resize at the end nothing is cut off") func noResize() throws {
        for tail in [[], [("soft", ModelGraph.Operation.softmax, Activation.none)]] {
            let graph = try graph(tail)
            let (trunk, head) = graph.separatingHead()
            #expect(trunk.layers.map(\.name) == graph.layers.map(\.name))
            #expect(head.resizes.isEmpty && head.activation == .none && head.members.isEmpty)
        }
    }

    @Test("A resize of the picture itself stays: a trunk computes something") func input() throws {
        var graph = Graph(name: "input")
        let input = graph.addInput("input", [3, 4, 2])
        let first = try graph.append("first", small, [input])
        graph.outputs = [try graph.append("second", large, [first])]
        let (trunk, head) = graph.separatingHead()
        #expect(trunk.layers.map(\.name) == ["first"])
        #expect(head.members == ["second"])
    }
}
