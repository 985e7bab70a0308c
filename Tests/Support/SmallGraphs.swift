import ModelGraph

/// Graphs that tests of several modules need.
package enum SmallGraphs {
    /// A network with the parts of a DeepLabV3, in eleven layers: an inverted residual, image pooling, one atrous branch.
    ///
    /// Input 9x7x3, output 9x7x3, seeded weights.
    package static func pyramid(seed: UInt64 = 1) throws -> Graph {
        var random = SeededGenerator(seed: seed)
        var graph = Graph(name: "pyramid")
        func convolution(_ from: Int, _ to: Int, _ kernel: Int = 1, dilation: Int = 1) -> Convolution {
            Convolution(
                weights: random.weights([to, from, kernel, kernel], fanIn: from * kernel * kernel),
                bias: random.bias(to), dilation: Extent(dilation), padding: Padding(kernel / 2 * dilation))
        }
        let input = graph.addInput("picture", Shape(height: 9, width: 7, channels: 3))
        var stem = convolution(3, 4, 3)
        stem.stride = Extent(2)
        let low = try graph.append("stem", .convolution(stem), [input], activation: .relu6)
        let depthwise = Convolution(
            weights: random.weights([4, 1, 3, 3], fanIn: 9), bias: random.bias(4), padding: Padding(1))
        let wide = try graph.append("depthwise", .depthwiseConvolution(depthwise), [low], activation: .relu6)
        let narrow = try graph.append("project", .convolution(convolution(4, 4)), [wide])
        let sum = try graph.append("add", .add, [narrow, low])
        let mean = try graph.append(
            "pool", .averagePool(Pool(kernel: Extent(height: 5, width: 4), stride: Extent(1))), [sum])
        let pooled = try graph.append("image pooling", .convolution(convolution(4, 5)), [mean], activation: .relu)
        let spread = try graph.append(
            "broadcast", .resizeBilinear(Extent(height: 5, width: 4), .alignCorners), [pooled])
        let atrous = try graph.append(
            "atrous", .convolution(convolution(4, 6, 3, dilation: 2)), [sum], activation: .relu)
        let both = try graph.append("concat", .concatenate, [spread, atrous])
        let scores = try graph.append("scores", .convolution(convolution(11, 3)), [both])
        let large = try graph.append("resize", .resizeBilinear(Extent(height: 9, width: 7), .halfPixel), [scores])
        graph.outputs = [large]
        return graph
    }

    /// DeepLabV3 on MobileNetV2 0.5 at 257x257, output stride 8, as the TensorFlow Lite project published it: the same
    /// layers and shapes; all weights are zero.
    package static func deepLab257() throws -> Graph {
        var graph = Graph(name: "deeplabv3-257")
        var channels = 3
        func zeros(_ shape: [Int]) -> Weights {
            Weights(shape: shape, values: Array(repeating: 0, count: shape.reduce(1, *)))
        }
        func add(
            _ name: String, _ input: TensorID, to outputs: Int, kernel: Int = 1, stride: Int = 1,
            _ activation: Activation = .none
        ) throws -> TensorID {
            let convolution = Convolution(
                weights: zeros([outputs, graph.shape(of: input).channels, kernel, kernel]), bias: zeros([outputs]),
                stride: Extent(stride), padding: Padding(kernel / 2))
            return try graph.append(name, .convolution(convolution), [input], activation: activation)
        }
        let input = graph.addInput("sub_7", Shape(height: 257, width: 257, channels: 3))
        var map = try add("Conv", input, to: 16, kernel: 3, stride: 2, .relu6)
        channels = 16
        // Output channels, stride and dilation of the inverted residuals; all but the first expand six-fold.
        let blocks: [(outputs: Int, stride: Int, dilation: Int)] =
            [(8, 1, 1), (12, 2, 1), (12, 1, 1), (16, 2, 1), (16, 1, 1), (16, 1, 1), (32, 1, 1)]
            + [(32, 1, 2), (32, 1, 2), (32, 1, 2), (48, 1, 2), (48, 1, 2), (48, 1, 2), (80, 1, 2)]
            + [(80, 1, 4), (80, 1, 4), (160, 1, 4)]
        for (index, block) in blocks.enumerated() {
            let start = map
            let width = index == 0 ? channels : channels * 6
            if index > 0 { map = try add("block \(index)/expand", map, to: width, .relu6) }
            let depthwise = Convolution(
                weights: zeros([width, 1, 3, 3]), bias: zeros([width]), stride: Extent(block.stride),
                dilation: Extent(block.dilation), padding: Padding(block.dilation))
            map = try graph.append(
                "block \(index)/depthwise", .depthwiseConvolution(depthwise), [map], activation: .relu6)
            map = try add("block \(index)/project", map, to: block.outputs)
            if block.stride == 1, block.outputs == channels {
                map = try graph.append("block \(index)/add", .add, [start, map])
            }
            channels = block.outputs
        }
        let mean = try graph.append("AvgPool", .averagePool(Pool(kernel: Extent(33), stride: Extent(33))), [map])
        let pooled = try add("image_pooling", mean, to: 256, .relu)
        let spread = try graph.append("ResizeBilinear_1", .resizeBilinear(Extent(33), .alignCorners), [pooled])
        let aspp = try add("aspp0", map, to: 256, .relu)
        let both = try graph.append("concat", .concatenate, [spread, aspp])
        let projected = try add("concat_projection", both, to: 256, .relu)
        let logits = try add("logits", projected, to: 21)
        let same = try graph.append("ResizeBilinear_2", .resizeBilinear(Extent(33), .alignCorners), [logits])
        graph.outputs = [try graph.append("ResizeBilinear_3", .resizeBilinear(Extent(257), .alignCorners), [same])]
        return graph
    }
}
