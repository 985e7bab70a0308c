import ModelGraph
import TestSupport
import Testing

@Suite("Shape inference") struct ShapeInferenceTests {
    private func convolution(
        _ weights: [Int], bias: Int? = nil, stride: Extent = 1, dilation: Extent = 1, padding: Padding = 0,
        groups: Int = 1
    ) -> Convolution {
        func zeros(_ shape: [Int]) -> Weights {
            Weights(shape: shape, values: Array(repeating: 0, count: shape.reduce(1, *)))
        }
        return Convolution(
            weights: zeros(weights), bias: bias.map { zeros([$0]) }, stride: stride, dilation: dilation,
            padding: padding,
            groups: groups)
    }

    private func shape(_ operation: Operation, _ inputs: Shape...) throws -> Shape {
        try operation.outputShape(for: inputs, layer: "layer")
    }

    /// Why the operation cannot be applied.
    private func refusal(_ operation: Operation, _ inputs: Shape...) -> String? {
        do {
            _ = try operation.outputShape(for: inputs, layer: "layer")
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("Windows: stride, dilation and padding") func windows() throws {
        let same = convolution([16, 3, 3, 3], stride: 2, padding: [1, 1, 1, 1])
        #expect(try shape(.convolution(same), [257, 257, 3]) == [129, 129, 16])
        let lopsided = convolution([16, 3, 3, 3], stride: 2, padding: [0, 0, 1, 1])
        #expect(try shape(.convolution(lopsided), [256, 256, 3]) == [128, 128, 16])
        let atrous = convolution([1, 8, 3, 3], dilation: [4, 2], padding: [4, 2, 4, 2])
        #expect(try shape(.convolution(atrous), [9, 5, 8]) == [9, 5, 1])
        let valid = convolution([2, 1, 3, 2])
        #expect(try shape(.convolution(valid), [3, 2, 1]) == [1, 1, 2])
        #expect(try shape(.depthwiseConvolution(convolution([5, 1, 3, 3], stride: [2, 1])), [7, 7, 5]) == [3, 5, 5])
        #expect(try shape(.convolution(convolution([6, 2, 1, 1], groups: 3)), [2, 2, 6]) == [2, 2, 6])
        #expect(try shape(.averagePool(Pool(kernel: 2, stride: 2)), [5, 4, 3]) == [2, 2, 3])
        #expect(try shape(.maxPool(Pool(kernel: 3, stride: 2, padding: 1)), [5, 4, 3]) == [3, 2, 3])
    }

    @Test("Transposed convolutions enlarge by their stride") func transposed() throws {
        #expect(
            try shape(.transposeConvolution(convolution([1, 16, 2, 2], stride: 2)), [128, 128, 16]) == [256, 256, 1])
        let cropped = convolution([4, 3, 3, 3], stride: [2, 1], padding: [1, 0, 0, 1])
        #expect(try shape(.transposeConvolution(cropped), [5, 5, 3]) == [10, 6, 4])
        let all = convolution([1, 1, 2, 2], padding: 1)
        #expect(
            refusal(.transposeConvolution(all), [1, 1, 1]) == "would give 0x0x1, which is empty or past the limits")
    }

    @Test("Elementwise operators repeat a 1x1 map") func elementwise() throws {
        #expect(try shape(.add, [3, 4, 5], [3, 4, 5]) == [3, 4, 5])
        #expect(try shape(.add, [1, 1, 5], [3, 4, 5]) == [3, 4, 5])
        #expect(try shape(.multiply, [3, 4, 5], [1, 1, 5]) == [3, 4, 5])
        #expect(refusal(.add, [3, 4, 5], [1, 4, 5]) == "combines 3x4x5 with 1x4x5")
        #expect(refusal(.multiply, [3, 4, 5], [3, 4, 1]) == "combines 3x4x5 with 3x4x1")
    }

    @Test("The other operators") func others() throws {
        #expect(try shape(.concatenate, [3, 4, 5], [3, 4, 1], [3, 4, 2]) == [3, 4, 8])
        #expect(try shape(.globalAveragePool, [3, 4, 5]) == [1, 1, 5])
        #expect(try shape(.resizeBilinear([7, 9], .halfPixel), [3, 4, 5]) == [7, 9, 5])
        #expect(try shape(.softmax, [3, 4, 5]) == [3, 4, 5])
        #expect(try shape(.argMax, [3, 4, 5]) == [3, 4, 1])
        #expect(try shape(.activation, [3, 4, 5]) == [3, 4, 5])
    }

    @Test("Numbers of inputs") func arity() {
        #expect(refusal(.softmax) == "has no input")
        #expect(refusal(.softmax, [1, 1, 1], [1, 1, 1]) == "has 2 inputs, expected 1")
        #expect(refusal(.add, [1, 1, 1]) == "has 1 inputs, expected 2")
        #expect(
            throws: GraphError.self,
            performing: {
                try Operation.concatenate.outputShape(for: Array(repeating: [1, 1, 1], count: 1025), layer: "layer")
            })
    }

    @Test("ModelLimits hold for every size a file can name") func limits() {
        let most = ModelLimits.window
        #expect(refusal(.convolution(convolution([1, 1, 1, 1], stride: [most + 1, 1])), [9, 9, 1]) != nil)
        #expect(refusal(.convolution(convolution([1, 1, 1, 1], stride: 0)), [9, 9, 1]) != nil)
        #expect(refusal(.convolution(convolution([1, 1, 1, 1], dilation: [1, .max])), [9, 9, 1]) != nil)
        #expect(refusal(.convolution(convolution([1, 1, 1, 1], padding: [0, 0, 0, .max])), [9, 9, 1]) != nil)
        #expect(refusal(.convolution(convolution([1, 1, 1, 1], padding: [.min, 0, 0, 0])), [9, 9, 1]) != nil)
        #expect(refusal(.convolution(convolution([1, 1, 1, 1], groups: .max)), [9, 9, 1]) != nil)
        #expect(refusal(.convolution(convolution([1, 1, 1, 1], groups: .min)), [9, 9, 1]) != nil)
        #expect(refusal(.maxPool(Pool(kernel: [.max, 1], stride: 1)), [9, 9, 1]) != nil)
        #expect(refusal(.averagePool(Pool(kernel: 3, stride: 1, padding: [3, 0, 0, 0])), [9, 9, 1]) != nil)
        #expect(refusal(.resizeBilinear([.max, .max], .halfPixel), [9, 9, 1]) != nil)
        #expect(refusal(.resizeBilinear([.min, 1], .halfPixel), [9, 9, 1]) != nil)
        #expect(refusal(.resizeBilinear([ModelLimits.side, ModelLimits.side], .halfPixel), [1, 1, 1]) == nil)
        #expect(refusal(.resizeBilinear([ModelLimits.side, ModelLimits.side], .halfPixel), [1, 1, 2]) != nil)
        #expect(refusal(.concatenate, [1, 1, ModelLimits.channels], [1, 1, 1]) != nil)
        #expect(refusal(.transposeConvolution(convolution([1, 1, 1, 1], stride: [most, most])), [5, 5, 1]) != nil)
    }

    @Test("Weights must fit channels and groups") func channels() {
        #expect(
            refusal(.convolution(convolution([4, 3, 1, 1])), [2, 2, 4])
                == "weights [4, 3, 1, 1] in 1 groups on 4 channels")
        #expect(
            refusal(.convolution(convolution([4, 2, 1, 1], groups: 3)), [2, 2, 6]) == "4 output channels in 3 groups")
        #expect(
            refusal(.convolution(convolution([4, 4, 1, 1], bias: 3)), [2, 2, 4])
                == "has a bias of shape [3] for 4 output channels")
        #expect(
            refusal(.depthwiseConvolution(convolution([4, 2, 1, 1])), [2, 2, 4])
                == "depthwise weights [4, 2, 1, 1] on 4 channels")
        #expect(
            refusal(.transposeConvolution(convolution([4, 2, 1, 1], dilation: 2)), [2, 2, 2])
                == "transposed weights [4, 2, 1, 1] on 2 channels")
    }

    @Test("A residual has the result's shape, a picture bias its channels") func additions() throws {
        var graph = Graph(name: "additions")
        let input = graph.addInput("input", [3, 3, 2])
        let other = graph.addInput("other", [3, 3, 1])
        #expect(throws: GraphError.self) { try graph.append("a", .softmax, [input], residual: other) }
        #expect(throws: GraphError.self) { try graph.append("b", .softmax, [input], pictureBias: input) }
        #expect(graph.layers.isEmpty)
    }

    @Test("Costs count every kind of convolution and nothing else") func costs() throws {
        var graph = Graph(name: "costs")
        let input = graph.addInput("input", [8, 6, 4])
        let a = try graph.append("a", .convolution(convolution([8, 2, 3, 3], bias: 8, padding: 1, groups: 2)), [input])
        let b = try graph.append("b", .depthwiseConvolution(convolution([8, 1, 3, 3], stride: 2, padding: 1)), [a])
        let c = try graph.append("c", .transposeConvolution(convolution([3, 8, 2, 2], bias: 3, stride: 2)), [b])
        graph.outputs = [try graph.append("d", .softmax, [c])]
        let expected = [8 * 6 * 8 * 2 * 9, 4 * 3 * 8 * 9, 4 * 3 * 8 * 3 * 4, 0]
        #expect(graph.layers.map(graph.macCount(of:)) == expected)
        #expect(graph.macCount == expected.reduce(0, +))
        #expect(graph.parameterCount == (8 * 2 * 9 + 8) + 8 * 9 + (3 * 8 * 4 + 3))
    }
}
