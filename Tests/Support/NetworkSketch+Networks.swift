import ModelGraph

extension NetworkSketch {
    /// A random network in the manner of MobileNetV2 with DeepLab's smallest head: no dilated branches, two resizes.
    package static func mobileNet(seed: UInt64) -> Graph {
        var sketch = NetworkSketch(name: "mobileNet \(seed)", seed: seed)
        let height = sketch.generator.integer(17...40)
        let width = sketch.generator.integer(17...40)
        var map = sketch.dense(
            sketch.input([height, width, 3]), to: sketch.generator.pick([8, 13, 16]), kernel: 3, stride: 2,
            activation: .relu6)
        map = sketch.invertedResidual(map, to: sketch.generator.pick([8, 12]), expansion: 1)
        for _ in 0..<sketch.generator.integer(3...6) {
            let channels = sketch.graph.shape(of: map).channels
            map = sketch.invertedResidual(
                map, to: sketch.generator.pick([channels, channels, 12, 20]),
                expansion: sketch.generator.pick([2, 6]), stride: sketch.generator.pick([1, 1, 1, 2]),
                dilation: sketch.generator.pick([1, 1, 2, 4]))
        }
        map = sketch.spatialPyramid(map, branch: sketch.generator.pick([16, 21]), rates: [], to: 24)
        let scores = sketch.dense(map, to: 21)
        let extent = sketch.graph.shape(of: scores).extent
        let same = sketch.layer(.resizeBilinear(extent, .alignCorners), scores)
        let output = sketch.layer(.resizeBilinear(Extent(height: height, width: width), .alignCorners), same)
        return sketch.finished(output)
    }

    /// A random network in the manner of torchvision's DeepLabV3: residual bottlenecks, and a pyramid of which the
    /// widest branches reach past the whole map.
    package static func deepLab(seed: UInt64) -> Graph {
        var sketch = NetworkSketch(name: "deepLab \(seed)", seed: seed)
        let side = sketch.generator.integer(25...41)
        var map = sketch.dense(sketch.input([side, side, 3]), to: 16, kernel: 7, stride: 2, activation: .relu)
        map = sketch.layer(.maxPool(Pool(kernel: 3, stride: 2, padding: 1)), map)
        for dilation in [1, 2] {
            let narrow = sketch.dense(map, to: 8, activation: .relu)
            let filtered = sketch.dense(narrow, to: 8, kernel: 3, dilation: dilation, activation: .relu)
            let sum = sketch.layer(
                .add, sketch.dense(filtered, to: 24), sketch.dense(map, to: 24, stride: 1))
            map = sketch.layer(.activation, sum, activation: .relu)
        }
        map = sketch.spatialPyramid(map, branch: sketch.generator.pick([8, 12]), rates: [2, 6, 12, 24], to: 16)
        map = sketch.dense(map, to: 16, kernel: 3, activation: .relu)
        let scores = sketch.dense(map, to: sketch.generator.pick([2, 21]))
        let output = sketch.layer(.resizeBilinear(Extent(side), .halfPixel), scores)
        return sketch.finished(output)
    }

    /// A random network in the manner of MediaPipe's selfie segmentation: gates, hard-swish, a decoder with skips.
    package static func selfie(seed: UInt64) -> Graph {
        var sketch = NetworkSketch(name: "selfie \(seed)", seed: seed)
        let side = 8 * sketch.generator.integer(3...5)
        let fine = sketch.dense(sketch.input([side, side, 3]), to: 8, kernel: 3, stride: 2, activation: .hardSwish)
        var middle = sketch.invertedResidual(fine, to: 12, expansion: 2, stride: 2, activation: .hardSwish)
        middle = sketch.gated(middle, squeeze: 5, gate: .sigmoid)
        var coarse = sketch.invertedResidual(middle, to: 20, expansion: 3, stride: 2, activation: .hardSwish)
        coarse = sketch.invertedResidual(coarse, to: 20, expansion: 3, activation: .relu)
        coarse = sketch.gated(coarse, squeeze: 4, gate: .hardSigmoid)
        for skip in [middle, fine] {
            let shape = sketch.graph.shape(of: skip)
            let enlarged = sketch.layer(.resizeBilinear(shape.extent, .halfPixel), coarse)
            let narrowed = sketch.dense(enlarged, to: shape.channels, activation: .relu)
            coarse = sketch.layer(.add, narrowed, skip)
            coarse = sketch.layer(.add, sketch.depthwise(coarse, activation: .relu), coarse)
        }
        // Two results, one of which others read: an arena must keep it to the end.
        let mask = sketch.doubled(coarse, to: 1, activation: .sigmoid)
        return sketch.finished(mask, middle)
    }

    /// A random network of each manner.
    package static func networks(seed: UInt64) -> [Graph] {
        [mobileNet(seed: seed), deepLab(seed: seed), selfie(seed: seed)]
    }
}
