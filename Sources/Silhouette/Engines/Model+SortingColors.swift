import ModelGraph

extension Model {
    /// A network that gives each pixel the class whose colour is nearest, with this model's input, labels and sizes.
    ///
    /// In a picture of many colours it finds many classes, and its borders run everywhere; so it shows what becomes of masks.
    func sortingColors() -> Model {
        let output = graph.shape(of: graph.outputs[0])
        let channelCount = input.order.channelCount
        // The network sees byte * scale + bias; colours lie in 0 ... 1.
        let factors = input.scale.map { $0 == 0 ? 0 : 1 / (255 * $0) }
        let steepness: Float = 8
        var weights: [Float] = []
        var biases: [Float] = []
        for label in 0..<output.channels {
            // The multiples of such numbers spread evenly, whatever the number of classes.
            let color = [0.618_034, 0.754_878, 0.569_840].prefix(channelCount).map { (step: Float) in
                (0.5 + Float(label) * step).truncatingRemainder(dividingBy: 1)
            }
            weights += zip(color, factors).map { steepness * $0 * $1 }
            let offset = zip(color, zip(input.bias, factors)).reduce(0) { $0 + $1.0 * $1.1.0 * $1.1.1 }
            biases.append(-steepness * (color.reduce(0) { $0 + $1 * $1 } / 2 + offset))
        }
        var sorting = Graph(name: name)
        let picture = sorting.addInput("picture", input.shape)
        let convolution = Convolution(
            weights: Weights(shape: [output.channels, channelCount, 1, 1], values: weights),
            bias: Weights(shape: [output.channels], values: biases), stride: Extent(min(8, input.width, input.height)))
        // The shapes fit one another by their making.
        let scores = try! sorting.append("colors", .convolution(convolution), [picture])
        let size = Extent(height: output.height, width: output.width)
        sorting.outputs = [try! sorting.append("scores", .resizeBilinear(size, .alignCorners), [scores])]
        return replacingGraph(sorting)
    }
}
