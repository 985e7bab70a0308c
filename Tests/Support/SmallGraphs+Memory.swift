import ModelGraph

/// Networks whose files say little of the memory that they take.
extension SmallGraphs {
    /// Convolutions in as many groups as fit: packed, each is `channels / 2` times as large as in the file.
    package static func grouped(layerCount: Int, channels: Int) throws -> Graph {
        var graph = Graph(name: "grouped")
        var position = try first(&graph, side: 8, channels: channels)
        for index in 0..<layerCount {
            let convolution = Convolution(
                weights: zeros([channels, 2, 3, 3]), padding: Padding(1), groups: channels / 2)
            position = try graph.append("grouped \(index)", .convolution(convolution), [position])
        }
        return try ended(graph, position, channels: channels)
    }

    /// Large maps between small weights.
    package static func wide(side: Int, channels: Int) throws -> Graph {
        var graph = Graph(name: "wide")
        var position = try first(&graph, side: side, channels: channels)
        position = try graph.append(
            "same", .convolution(Convolution(weights: zeros([channels, channels, 1, 1]))), [position])
        return try ended(graph, position, channels: channels)
    }

    /// A transposed convolution for which every thread gathers much.
    package static func gathering(channels: Int, kernel: Int) throws -> Graph {
        var graph = Graph(name: "gathering")
        let position = try first(&graph, side: 8, channels: channels)
        let convolution = Convolution(weights: zeros([2, channels, kernel, kernel]), padding: Padding(kernel / 2))
        graph.outputs = [try graph.append("scores", .transposeConvolution(convolution), [position])]
        return graph
    }

    private static func zeros(_ shape: [Int]) -> Weights {
        Weights(shape: shape, values: Array(repeating: 0, count: shape.reduce(1, *)))
    }

    private static func first(_ graph: inout Graph, side: Int, channels: Int) throws -> TensorID {
        let input = graph.addInput("picture", Shape(height: side, width: side, channels: 3))
        return try graph.append("first", .convolution(Convolution(weights: zeros([channels, 3, 1, 1]))), [input])
    }

    private static func ended(_ graph: Graph, _ position: TensorID, channels: Int) throws -> Graph {
        var graph = graph
        let scores = Convolution(weights: zeros([2, channels, 1, 1]))
        graph.outputs = [try graph.append("scores", .convolution(scores), [position])]
        return graph
    }
}
