import ModelGraph
import TestSupport

extension FaultyBackend {
    /// A backend that runs each layer as `change` leaves it.
    static func changing(_ name: String, _ change: @escaping @Sendable (inout Layer) -> Void) -> FaultyBackend {
        FaultyBackend(name: name) { layer, graph in
            var changed = layer
            change(&changed)
            return try? graph.append(changed)
        }
    }

    /// A backend that runs each convolution, of any kind, as `change` leaves it.
    static func changingConvolution(_ name: String, _ change: @escaping @Sendable (inout Convolution) -> Void)
        -> FaultyBackend
    {
        changing(name) { layer in
            switch layer.operation {
            case .convolution(var convolution):
                change(&convolution)
                layer.operation = .convolution(convolution)
            case .depthwiseConvolution(var convolution):
                change(&convolution)
                layer.operation = .depthwiseConvolution(convolution)
            case .transposeConvolution(var convolution):
                change(&convolution)
                layer.operation = .transposeConvolution(convolution)
            default: break
            }
        }
    }

    /// A backend that runs each pool as `change` leaves it.
    static func changingPool(_ name: String, _ change: @escaping @Sendable (inout Pool) -> Void) -> FaultyBackend {
        changing(name) { layer in
            switch layer.operation {
            case .averagePool(var pool):
                change(&pool)
                layer.operation = .averagePool(pool)
            case .maxPool(var pool):
                change(&pool)
                layer.operation = .maxPool(pool)
            default: break
            }
        }
    }

    /// A backend that takes one activation for another.
    static func confusing(_ real: Activation, _ wrong: Activation) -> FaultyBackend {
        changing("takes \(real) for \(wrong)") { if $0.activation == real { $0.activation = wrong } }
    }

    /// A backend that takes one resize convention for another.
    static func confusing(_ real: ResizeConvention, _ wrong: ResizeConvention) -> FaultyBackend {
        changing("takes \(real) for \(wrong)") { layer in
            if case .resizeBilinear(let extent, real) = layer.operation {
                layer.operation = .resizeBilinear(extent, wrong)
            }
        }
    }

    /// A backend that adds what belongs before the activation behind it.
    static let activatingTooEarly = FaultyBackend(name: "adds the residual behind the activation") { layer, graph in
        guard let residual = layer.residual, layer.activation != .none else { return nil }
        let result = try graph.append(
            layer.name, layer.operation, layer.inputs, activation: layer.activation, pictureBias: layer.pictureBias)
        return try graph.append("add", .add, [result, residual])
    }

    /// A backend that leaves the last value of its result unwritten.
    static let leavingTheLast = FaultyBackend(
        name: "leaves the last value unwritten",
        spoil: { _, _, _, outputs in outputs[0][outputs[0].count - 1] = .nan })

    /// A backend that writes one value too many.
    static let writingPastTheEnd = FaultyBackend(
        name: "writes past the end",
        spoil: { _, _, _, outputs in
            // The harness keeps a guard of several values there.
            outputs[0].baseAddress![outputs[0].count] = 0
        })

    /// A backend that works in its input.
    static let changingItsInput = FaultyBackend(
        name: "changes its input",
        spoil: { _, _, inputs, _ in UnsafeMutablePointer(mutating: inputs[0].baseAddress!)[0] += 1 })

    /// A backend that gives every picture the first one's result.
    static let repeatingThePicture = FaultyBackend(
        name: "gives every picture the first one's result",
        spoil: { graph, batch, _, outputs in
            let count = graph.shape(of: graph.outputs[0]).elementCount
            for picture in 1..<max(1, batch) {
                for index in 0..<count { outputs[0][picture * count + index] = outputs[0][index] }
            }
        })

    /// A backend whose vector code forgets the channels that fill no vector.
    static let forgettingTheTail = FaultyBackend(
        name: "forgets channels behind the last full eight",
        spoil: { graph, _, _, outputs in
            let channels = graph.shape(of: graph.outputs[0]).channels
            guard channels > 8, channels % 8 != 0 else { return }
            for index in outputs[0].indices where index % channels >= channels / 8 * 8 { outputs[0][index] = 0 }
        })

    /// A backend that takes the last of equals.
    static let takingTheLastOfEquals = FaultyBackend(
        name: "takes the last of equals",
        spoil: { graph, _, inputs, outputs in
            guard case .argMax = graph.layers.last?.operation else { return }
            let channels = inputs[0].count / outputs[0].count
            for pixel in outputs[0].indices {
                let scores = inputs[0][pixel * channels..<(pixel + 1) * channels]
                guard let best = scores.max(), let last = scores.lastIndex(of: best) else { continue }
                outputs[0][pixel] = Float(last - pixel * channels)
            }
        })

    /// A backend whose first run leaves something behind that reaches the second.
    static func remembering() -> FaultyBackend {
        let memory = Memory()
        return FaultyBackend(
            name: "remembers an earlier picture",
            spoil: { _, _, inputs, outputs in
                // As an accumulator that is never cleared would: the first run, on NaNs, reaches the second.
                for index in outputs[0].indices { outputs[0][index] += memory.leftover }
                memory.leftover = inputs[0][0].isNaN ? .nan : 0
            })
    }
}

/// What a backend that forgets to clear its memory keeps between two runs, which come one after the other.
private final class Memory: @unchecked Sendable {
    var leftover: Float = 0
}

extension Graph {
    /// Adds a layer as it is, to a graph with the same tensors.
    fileprivate mutating func append(_ layer: Layer) throws -> TensorID {
        try append(
            layer.name, layer.operation, layer.inputs, activation: layer.activation, residual: layer.residual,
            pictureBias: layer.pictureBias)
    }
}

extension Weights {
    /// The weights with each kernel changed: `source(ky, kx)` names the tap that is put at (ky, kx).
    func movingTaps(_ source: (_ ky: Int, _ kx: Int) -> (Int, Int)) -> Weights {
        let values = floats()
        let (height, width) = (shape[2], shape[3])
        return Weights(
            shape: shape,
            values: values.indices.map { index in
                let (kernel, tap) = index.quotientAndRemainder(dividingBy: height * width)
                let (ky, kx) = source(tap / width, tap % width)
                return values[kernel * height * width + ky * width + kx]
            })
    }
}
