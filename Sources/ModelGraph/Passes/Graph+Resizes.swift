extension Graph {
    /// With pointwise convolutions computed before an enlarging resize instead of after it.
    ///
    /// A bilinear resize gives weighted means whose weights add up to one, so it commutes with every affine function
    /// of the channels, bias included; the convolution then has fewer pixels to work on and the resize no more channels
    /// than before. An activation or a residual in between would not commute.
    ///
    /// ```
    /// 16x16x128 -> resize 32x32x128 -> convolution 32x32x24     16x16x128 -> convolution 16x16x24 -> resize 32x32x24
    /// ```
    package func delayingResizes() -> Graph {
        var graph = self
        graph.layers = []
        var names = NameGenerator(self)
        let useCounts = self.useCounts
        /// The resizes that only one layer reads, by their results.
        var resizes: [TensorID: Layer] = [:]
        for var layer in layers {
            if case .resizeBilinear = layer.operation, layer.isBare, useCounts[layer.output.index] == 1 {
                resizes[layer.output] = layer
            }
            guard case .convolution(let convolution) = layer.operation, convolution.isPointwise, layer.isBare,
                convolution.stride == Extent(1), var resize = resizes[layer.inputs[0]]
            else {
                graph.layers.append(layer)
                continue
            }
            let small = graph.shape(of: resize.inputs[0])
            let large = shape(of: layer.output)
            guard small.pixelCount < large.pixelCount, large.channels <= small.channels else {
                graph.layers.append(layer)
                continue
            }
            // The convolution writes a new tensor; the resize comes after it and writes what the convolution wrote.
            let result = graph.addTensor(
                names.unused("\(self[layer.output].name)/\(small.extent)"),
                Shape(height: small.height, width: small.width, channels: large.channels))
            (layer.inputs, resize.inputs) = (resize.inputs, [result])
            (layer.output, resize.output) = (result, layer.output)
            graph.layers.removeAll { $0.name == resize.name }
            graph.layers += [layer, resize]
            if useCounts[resize.output.index] == 1 { resizes[resize.output] = resize }
        }
        return graph.removingDeadLayers()
    }
}
