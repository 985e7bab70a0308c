import ModelGraph
import TestSupport
import Testing

/// Runs both graphs in float64 on the same seeded input and expects the same outputs up to the order of summation, and
/// that the second graph keeps all promises of a graph.
func expectSameValues(
    _ rewritten: Graph, _ original: Graph, seed: UInt64 = 1, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    try rewritten.check()
    #expect(
        rewritten.outputs.map { rewritten[$0].name } == original.outputs.map { original[$0].name }, comment,
        sourceLocation: sourceLocation)
    #expect(
        rewritten.inputs.map { rewritten[$0].name } == original.inputs.map { original[$0].name }, comment,
        sourceLocation: sourceLocation)

    var random = SeededGenerator(seed: seed)
    let inputs = original.inputs.map { random.tensor(batch: 2, original.shape(of: $0)) }
    let expected = Reference.run(original, inputs)
    let result = Reference.run(rewritten, inputs)
    // Sums of large values that cancel leave errors in proportion to the largest.
    let largest = expected.flatMap(\.values).map(\.magnitude).max() ?? 0
    for (new, old) in zip(rewritten.outputs, original.outputs) {
        let difference =
            zip(result[new.index].values, expected[old.index].values).map { ($0 - $1).magnitude }.max() ?? 0
        #expect(difference <= 1e-10 * max(1, largest), comment, sourceLocation: sourceLocation)
    }
}

/// The kinds of a graph's layers, in their order.
func operators(_ graph: Graph) -> [String] { graph.layers.map(\.operation.nameWithKernel) }

/// A pointwise convolution with seeded weights.
func pointwise(_ inputs: Int, to outputs: Int, stride: Int = 1, seed: UInt64 = 1) -> ModelGraph.Operation {
    var random = SeededGenerator(seed: seed)
    return .convolution(
        Convolution(
            weights: random.weights([outputs, inputs, 1, 1], fanIn: inputs), bias: random.bias(outputs),
            stride: Extent(stride)))
}
