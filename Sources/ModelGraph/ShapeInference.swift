extension Operation {
    /// The shape of the result for inputs of the given shapes.
    ///
    /// Every size that a model file can name is checked here, with arithmetic that cannot overflow, so that whatever is
    /// built into a graph can be run.
    ///
    /// - Throws: `GraphError` naming `layer` when the inputs do not fit the operation.
    package func outputShape(for inputs: [Shape], layer: String) throws(GraphError) -> Shape {
        func fail(_ reason: String) -> GraphError { GraphError(layer: layer, reason) }
        guard let first = inputs.first else { throw fail("has no input") }
        let arity: ClosedRange<Int> =
            switch self {
            case .add, .multiply: 2...2
            case .concatenate: 1...1024
            case .convolution, .depthwiseConvolution, .transposeConvolution, .globalAveragePool, .averagePool, .maxPool,
                .resizeBilinear, .softmax, .argMax, .activation:
                1...1
            }
        guard arity.contains(inputs.count) else {
            let expected = arity.count == 1 ? "\(arity.lowerBound)" : "\(arity.lowerBound) to \(arity.upperBound)"
            throw fail("has \(inputs.count) inputs, expected \(expected)")
        }

        let shape: Shape
        switch self {
        case .convolution(let convolution):
            try convolution.check(layer: layer)
            guard convolution.weights.shape[1] * convolution.groups == first.channels else {
                throw fail(
                    "weights \(convolution.weights.shape) in \(convolution.groups) groups on \(first.channels) channels"
                )
            }
            guard convolution.weights.shape[0] % convolution.groups == 0 else {
                throw fail("\(convolution.weights.shape[0]) output channels in \(convolution.groups) groups")
            }
            shape = try slide(convolution, over: first, channels: convolution.weights.shape[0], layer: layer)
        case .depthwiseConvolution(let convolution):
            try convolution.check(layer: layer)
            guard convolution.weights.shape[0] == first.channels, convolution.weights.shape[1] == 1 else {
                throw fail("depthwise weights \(convolution.weights.shape) on \(first.channels) channels")
            }
            shape = try slide(convolution, over: first, channels: first.channels, layer: layer)
        case .transposeConvolution(let convolution):
            try convolution.check(layer: layer)
            guard convolution.weights.shape[1] == first.channels, convolution.groups == 1,
                convolution.dilation == Extent(1)
            else { throw fail("transposed weights \(convolution.weights.shape) on \(first.channels) channels") }
            let padding = convolution.padding
            shape = Shape(
                height: (first.height - 1) * convolution.stride.height + convolution.kernel.height - padding.top
                    - padding.bottom,
                width: (first.width - 1) * convolution.stride.width + convolution.kernel.width - padding.left
                    - padding.right,
                channels: convolution.weights.shape[0])
        case .add, .multiply:
            let second = inputs[1]
            guard first.channels == second.channels,
                first.extent == second.extent || first.extent == Extent(1) || second.extent == Extent(1)
            else { throw fail("combines \(first) with \(second)") }
            shape = first.extent == Extent(1) ? second : first
        case .concatenate:
            guard inputs.allSatisfy({ $0.extent == first.extent }) else {
                throw fail("concatenates maps of different size: \(inputs.map(\.description).joined(separator: ", "))")
            }
            shape = Shape(height: first.height, width: first.width, channels: inputs.map(\.channels).reduce(0, +))
        case .globalAveragePool: shape = Shape(height: 1, width: 1, channels: first.channels)
        case .averagePool(let pool), .maxPool(let pool):
            shape = try slide(pool, over: first, layer: layer)
        case .resizeBilinear(let extent, _):
            shape = Shape(height: extent.height, width: extent.width, channels: first.channels)
        case .softmax, .activation: shape = first
        case .argMax: shape = Shape(height: first.height, width: first.width, channels: 1)
        }
        guard (1...ModelLimits.side).contains(shape.height), (1...ModelLimits.side).contains(shape.width),
            (1...ModelLimits.channels).contains(shape.channels), shape.elementCount <= ModelLimits.elements
        else { throw fail("would give \(shape), which is empty or past the limits") }
        return shape
    }
}

extension Convolution {
    /// Checks everything that does not depend on the input.
    fileprivate func check(layer: String) throws(GraphError) {
        guard weights.shape.count == 4, weights.shape.allSatisfy({ (1...ModelLimits.channels).contains($0) }) else {
            throw GraphError(layer: layer, "weights have the shape \(weights.shape), expected four dimensions")
        }
        guard groups >= 1, groups <= ModelLimits.channels else {
            throw GraphError(layer: layer, "has \(groups) groups")
        }
        let outputs = weights.shape[0]
        if let bias, bias.shape != [outputs] {
            throw GraphError(layer: layer, "has a bias of shape \(bias.shape) for \(outputs) output channels")
        }
        try checkWindow(kernel: kernel, stride: stride, dilation: dilation, padding: padding, layer: layer)
    }
}

private func checkWindow(kernel: Extent, stride: Extent, dilation: Extent, padding: Padding, layer: String)
    throws(GraphError)
{
    let positive = [kernel.height, kernel.width, stride.height, stride.width, dilation.height, dilation.width]
    let natural = [padding.top, padding.left, padding.bottom, padding.right]
    guard positive.allSatisfy({ (1...ModelLimits.window).contains($0) }),
        natural.allSatisfy({ (0...ModelLimits.window).contains($0) })
    else {
        throw GraphError(
            layer: layer, "kernel \(kernel), stride \(stride), dilation \(dilation), padding \(padding) is out of range"
        )
    }
}

private func slide(_ convolution: Convolution, over input: Shape, channels: Int, layer: String)
    throws(GraphError) -> Shape
{
    try slide(
        kernel: convolution.kernel, stride: convolution.stride, dilation: convolution.dilation,
        padding: convolution.padding, over: input, channels: channels, layer: layer)
}

private func slide(_ pool: Pool, over input: Shape, layer: String) throws(GraphError) -> Shape {
    try checkWindow(
        kernel: pool.kernel, stride: pool.stride, dilation: Extent(1), padding: pool.padding, layer: layer)
    guard pool.padding.top < pool.kernel.height, pool.padding.bottom < pool.kernel.height,
        pool.padding.left < pool.kernel.width, pool.padding.right < pool.kernel.width
    else { throw GraphError(layer: layer, "has a window that lies wholly in the padding") }
    return try slide(
        kernel: pool.kernel, stride: pool.stride, dilation: Extent(1), padding: pool.padding, over: input,
        channels: input.channels, layer: layer)
}

private func slide(
    kernel: Extent, stride: Extent, dilation: Extent, padding: Padding, over input: Shape, channels: Int, layer: String
) throws(GraphError) -> Shape {
    let spanHeight = input.height + padding.top + padding.bottom - ((kernel.height - 1) * dilation.height + 1)
    let spanWidth = input.width + padding.left + padding.right - ((kernel.width - 1) * dilation.width + 1)
    guard spanHeight >= 0, spanWidth >= 0 else {
        throw GraphError(layer: layer, "has a window larger than its padded input \(input)")
    }
    return Shape(
        height: spanHeight / stride.height + 1, width: spanWidth / stride.width + 1, channels: channels)
}
