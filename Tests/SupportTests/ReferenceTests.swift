import ModelGraph
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Runs one operation, its inputs given by shape and values, and gives the values of its result.
private func run(
    _ operation: ModelGraph.Operation, _ inputs: (Shape, [Float])..., activation: Activation = .none,
    residual: [Float]? = nil, pictureBias: [Float]? = nil, batch: Int = 1
) throws -> [Double] {
    var graph = Graph(name: "reference")
    var tensors: [Tensor] = []
    func input(_ shape: Shape, _ values: [Float]) -> TensorID {
        tensors.append(Tensor(batch: batch, shape: shape, values: values))
        return graph.addInput("input\(tensors.count)", shape)
    }
    let sources = inputs.map { input($0.0, $0.1) }
    let shape = try operation.outputShape(for: inputs.map(\.0), layer: "layer")
    let output = try graph.append(
        "layer", operation, sources, activation: activation, residual: residual.map { input(shape, $0) },
        pictureBias: pictureBias.map { input([1, 1, shape.channels], $0) })
    return Reference.run(graph, tensors)[output.index].values
}

private func convolution(
    _ shape: [Int], _ values: [Float], bias: [Float]? = nil, stride: Extent = 1, dilation: Extent = 1,
    padding: Padding = 0, groups: Int = 1
) -> Convolution {
    Convolution(
        weights: Weights(shape: shape, values: values), bias: bias.map { Weights(shape: [$0.count], values: $0) },
        stride: stride, dilation: dilation, padding: padding, groups: groups)
}

/// Every number here was worked out by hand.
@Suite("Reference")
struct ReferenceTests {
    let grid: (Shape, [Float]) = ([3, 3, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9])

    @Test("a convolution is a cross-correlation over zeros around the map")
    func convolutions() throws {
        // The kernel is not turned round: 1 * 1 + 10 * 2 + 100 * 4 + 1000 * 5.
        #expect(
            try run(.convolution(convolution([1, 1, 2, 2], [1, 10, 100, 1000])), grid) == [5421, 6532, 8754, 9865])
        // One column left, one row below.
        #expect(
            try run(
                .convolution(convolution([1, 1, 2, 2], [1, 10, 100, 1000], padding: [0, 1, 1, 0])), grid)
                == [4010, 5421, 6532, 7040, 8754, 9865, 70, 87, 98])
        #expect(
            try run(.convolution(convolution([1, 1, 1, 2], [1, 10], bias: [0.5], stride: [2, 1])), grid)
                == [21.5, 32.5, 87.5, 98.5])
        #expect(try run(.convolution(convolution([1, 1, 2, 2], [1, 10, 100, 1000], dilation: 2)), grid) == [9731])
        // Only the middle tap of a kernel that reaches past the map is left.
        let middle: [Float] = [9, 9, 9, 9, 2, 9, 9, 9, 9]
        #expect(
            try run(.convolution(convolution([1, 1, 3, 3], middle, dilation: 3, padding: 3)), grid)
                == [2, 4, 6, 8, 10, 12, 14, 16, 18])
    }

    @Test("a convolution adds up input channels, a group its own")
    func channels() throws {
        let pixel: (Shape, [Float]) = ([1, 1, 4], [1, 2, 3, 4])
        #expect(
            try run(.convolution(convolution([2, 4, 1, 1], [1, 10, 100, 1000, 0, 1, 0, -1], bias: [0, 7])), pixel)
                == [4321, 5])
        #expect(
            try run(.convolution(convolution([2, 2, 1, 1], [1, 10, 1, 10], groups: 2)), pixel) == [21, 43])
        #expect(
            try run(.convolution(convolution([4, 1, 1, 1], [1, 10, 1, 10], groups: 2)), ([1, 1, 2], [3, 5]))
                == [3, 30, 5, 50])
        #expect(
            try run(.depthwiseConvolution(convolution([2, 1, 1, 2], [1, 10, 100, 1000])), ([1, 2, 2], [1, 2, 3, 4]))
                == [31, 4200])
    }

    @Test("a transposed convolution spreads each pixel over its kernel and cuts the padding off")
    func transposed() throws {
        let row: (Shape, [Float]) = ([1, 2, 1], [2, 3])
        #expect(
            try run(.transposeConvolution(convolution([1, 1, 2, 2], [1, 10, 100, 1000], bias: [0.5], stride: 2)), row)
                == [2.5, 20.5, 3.5, 30.5, 200.5, 2000.5, 300.5, 3000.5])
        // Overlap in the middle: 3 columns a pixel at stride 2.
        #expect(
            try run(.transposeConvolution(convolution([1, 1, 1, 3], [1, 10, 100], stride: [1, 2])), row)
                == [2, 20, 203, 30, 300])
        #expect(
            try run(
                .transposeConvolution(
                    convolution([1, 1, 1, 3], [1, 10, 100], stride: [1, 2], padding: [0, 1, 0, 2])),
                row) == [20, 203])
        #expect(
            try run(.transposeConvolution(convolution([2, 2, 1, 1], [1, 10, 100, 1000])), ([1, 1, 2], [1, 2]))
                == [21, 2100])
    }

    @Test("sums and products repeat a single pixel, on either side and for each picture its own")
    func elementwise() throws {
        let map: (Shape, [Float]) = ([1, 2, 2], [1, 2, 3, 4])
        let pixel: (Shape, [Float]) = ([1, 1, 2], [10, 100])
        #expect(try run(.add, map, map) == [2, 4, 6, 8])
        #expect(try run(.add, map, pixel) == [11, 102, 13, 104])
        #expect(try run(.multiply, pixel, map) == [10, 200, 30, 400])
        #expect(
            try run(.multiply, ([1, 2, 1], [1, 2, 3, 4]), ([1, 1, 1], [10, 100]), batch: 2) == [10, 20, 300, 400])
    }

    @Test("a concatenation puts channels one after another")
    func concatenation() throws {
        #expect(
            try run(.concatenate, ([1, 2, 1], [1, 2]), ([1, 2, 2], [3, 4, 5, 6]), ([1, 2, 1], [7, 8]))
                == [1, 3, 4, 7, 2, 5, 6, 8])
    }

    @Test("pools see only what lies inside the map")
    func pools() throws {
        #expect(try run(.globalAveragePool, ([1, 2, 2], [1, 10, 3, 30])) == [2, 20])
        let pool = Pool(kernel: 2, stride: 2, padding: [0, 0, 1, 1])
        #expect(try run(.averagePool(pool), grid) == [3, 4.5, 7.5, 9])
        var counting = pool
        counting.countsPadding = true
        #expect(try run(.averagePool(counting), grid) == [3, 2.25, 3.75, 2.25])
        #expect(try run(.maxPool(pool), grid) == [5, 6, 8, 9])
        #expect(try run(.maxPool(pool), (grid.0, grid.1.map { -$0 })) == [-1, -3, -7, -9])
    }

    @Test(
        "each resize has its own positions",
        arguments: [
            (ResizeConvention.alignCorners, [0, 1, 2, 3, 4], [0, 2, 4]),
            (.halfPixel, [0, 0.8, 2, 3.2, 4], [1.0 / 3, 2, 11.0 / 3]),
            (.asymmetric, [0, 1.2, 2.4, 3.6, 4], [0, 5.0 / 3, 10.0 / 3]),
        ] as [(ResizeConvention, [Double], [Double])])
    func resizes(_ convention: ResizeConvention, up: [Double], down: [Double]) throws {
        func row(_ values: [Float], to width: Int) throws -> [Double] {
            try run(.resizeBilinear([1, width], convention), ([1, values.count, 1], values))
        }
        func column(_ values: [Float], to height: Int) throws -> [Double] {
            try run(.resizeBilinear([height, 1], convention), ([values.count, 1, 1], values))
        }
        func isClose(_ a: [Double], _ b: [Double]) -> Bool { zip(a, b).allSatisfy { abs($0 - $1) < 1e-6 } }
        // Three pixels 0, 2, 4 at positions 0, 1, 2, stretched to five.
        #expect(isClose(try row([0, 2, 4], to: 5), up))
        #expect(isClose(try column([0, 2, 4], to: 5), up))
        // Five pixels at positions 0 to 4, shrunk to three: the value is the position.
        #expect(isClose(try row([0, 1, 2, 3, 4], to: 3), down))
        #expect(try row([1, 5, 2], to: 3) == [1, 5, 2])
        #expect(try column([7], to: 3) == [7, 7, 7])
    }

    @Test("a resize mixes the four pixels around a position")
    func bilinear() throws {
        #expect(
            try run(.resizeBilinear(3, .alignCorners), ([2, 2, 1], [0, 10, 100, 1000]))
                == [0, 5, 10, 50, 277.5, 505, 100, 550, 1000])
    }

    @Test("soft-max and arg-max go over the channels of a pixel")
    func pixelwise() throws {
        let softmax = try run(.softmax, ([1, 2, 2], [Float(log(3.0)), 0, 1000, 1000]))
        #expect(zip(softmax, [0.75, 0.25, 0.5, 0.5]).allSatisfy { abs($0 - $1) < 1e-7 })
        #expect(try run(.argMax, ([1, 3, 3], [1, 2, 2, 3, 3, 3, -1, -3, 0])) == [1, 0, 2])
    }

    @Test("activations bend where they should")
    func activations() throws {
        let points: [Float] = [-4, -3, -1.5, 0, 3, 6, 7]
        func values(_ activation: Activation) throws -> [Double] {
            try run(.activation, ([1, 7, 1], points), activation: activation)
        }
        #expect(try values(.none) == [-4, -3, -1.5, 0, 3, 6, 7])
        #expect(try values(.relu) == [0, 0, 0, 0, 3, 6, 7])
        #expect(try values(.relu6) == [0, 0, 0, 0, 3, 6, 6])
        #expect(try values(.hardSigmoid) == [0, 0, 0.25, 0.5, 1, 1, 1])
        #expect(try values(.hardSwish) == [0, 0, -0.375, 0, 3, 6, 7])
        let sigmoid = try run(.activation, ([1, 3, 1], [Float(-log(3.0)), 0, 1000]), activation: .sigmoid)
        #expect(zip(sigmoid, [0.25, 0.5, 1]).allSatisfy { abs($0 - $1) < 1e-7 })
    }

    @Test("residual and picture bias are added before the activation")
    func epilogue() throws {
        #expect(
            try run(
                .activation, ([1, 2, 2], [1, 2, 3, 4]), activation: .relu6, residual: [1, -9, 1, 1],
                pictureBias: [0.5, 1.5]) == [2.5, 0, 4.5, 6])
    }
}
