import ModelGraph

/// Measures what a backend reaches at best: at a large pointwise convolution, and at a large addition.
///
/// The tensors are made on the device, from a single pixel: the time to bring them there is no part of the layers' own.
/// Sizes grow until a run takes long enough, and the best rate of all runs of all sizes counts: caches are not forgotten,
/// and on a busy machine short runs are those that find it free.
struct Calibration {
    let backend: any InferenceBackend
    /// Bytes of a stored activation or weight.
    let valueByteCount: Int

    private static let convolutionChannels = 512
    private static let additionChannels = 64
    private static let runs = 3...100
    /// Seconds that one size may take, once it has run the least number of times.
    private static let patience = 0.15

    /// The device's rates; zero where it has no clock.
    func rates() -> DeviceRates {
        var rates = DeviceRates(gigaflops: 0, gigabytesPerSecond: 0)
        for (work, seconds) in times(sides: [16, 32, 64, 128, 256], enough: 0.05, convolution) {
            rates.gigaflops = max(rates.gigaflops, work.gigaflops(in: seconds * 1000))
        }
        for (work, seconds) in times(sides: [32, 64, 128, 256, 512], enough: 0.02, addition) {
            rates.learn(from: work, in: seconds * 1000)
        }
        return rates
    }

    /// What the second last layer, the one that counts, has to do at each size, and how long it takes.
    private func times(sides: [Int], enough: Double, _ makeGraph: (Int) throws -> Graph) -> [(Work, Double)] {
        var times: [(Work, Double)] = []
        for side in sides {
            // A device with too little memory for one size has told what it can at the sizes before.
            guard let (work, seconds) = try? measure(makeGraph(side)), seconds > 0 else { break }
            times.append((work, seconds))
            if seconds > enough { break }
        }
        return times
    }

    private func measure(_ graph: Graph) throws -> (Work, Double) {
        let compiled = try backend.compile(graph, batch: 1)
        let inputs = graph.inputs.map { id in
            (0..<graph.shape(of: id).elementCount).map { 0.5 + Float($0 % 7) * 0.125 }
        }
        var fastest = Double.infinity
        let outputs = UnsafeMutableBufferPointer<Float>.allocate(
            capacity: graph.shape(of: graph.outputs[0]).elementCount)
        defer { outputs.deallocate() }
        // All inputs are alike, so one buffer serves for all.
        try inputs[0].withUnsafeBufferPointer { values in
            let start = ContinuousClock.now
            for run in 0..<Self.runs.upperBound {
                if run >= Self.runs.lowerBound, milliseconds(since: start) > Self.patience * 1000 { break }
                let times = try compiled.profile(inputs.map { _ in values }, into: [outputs])
                fastest = min(fastest, times[times.count - 2])
            }
        }
        let layer = graph.layers[graph.layers.count - 2]
        return (graph.work(of: layer, batch: 1, valueByteCount: valueByteCount), fastest)
    }

    /// A pixel is spread over a map, the map convolved, the result brought back to a pixel.
    private func convolution(_ side: Int) throws -> Graph {
        let channels = Self.convolutionChannels
        let weights = (0..<channels * channels).map { Float($0 % 13 - 6) / 64 }
        var graph = Graph(name: "calibration")
        let source = try spread("source", side, channels, in: &graph)
        let result = try graph.append(
            "convolution",
            .convolution(Convolution(weights: Weights(shape: [channels, channels, 1, 1], values: weights))),
            [source])
        graph.outputs = [try graph.append("mean", .globalAveragePool, [result])]
        return graph
    }

    /// Two pixels are spread over maps, the maps added, the sum brought back to a pixel.
    private func addition(_ side: Int) throws -> Graph {
        var graph = Graph(name: "calibration")
        let terms = try ["a", "b"].map { try spread($0, side, Self.additionChannels, in: &graph) }
        let sum = try graph.append("sum", .add, terms)
        graph.outputs = [try graph.append("mean", .globalAveragePool, [sum])]
        return graph
    }

    private func spread(_ name: String, _ side: Int, _ channels: Int, in graph: inout Graph) throws -> TensorID {
        let pixel = graph.addInput(name, Shape(height: 1, width: 1, channels: channels))
        return try graph.append("spread \(name)", .resizeBilinear(Extent(side), .halfPixel), [pixel])
    }
}
