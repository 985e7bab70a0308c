import ModelGraph

/// What has to be done, whatever does it: the least that is computed and moved.
package struct Work: Sendable, Equatable {
    /// Floating-point operations: two for each multiply-add of the convolutions. Nothing else counts.
    package var operationCount: Int
    /// Bytes that layers read and write: their inputs and results once each, and their weights.
    package var byteCount: Int

    package init(operationCount: Int, byteCount: Int) {
        self.operationCount = operationCount
        self.byteCount = byteCount
    }

    /// Thousand millions of operations a second, where the work takes `milliseconds`.
    package func gigaflops(in milliseconds: Double) -> Double { Double(operationCount) / milliseconds / 1e6 }

    /// Thousand millions of bytes a second, where the work takes `milliseconds`.
    package func gigabytesPerSecond(in milliseconds: Double) -> Double { Double(byteCount) / milliseconds / 1e6 }
}

/// How fast a device is at the two things that limit networks.
package struct DeviceRates: Sendable, Equatable {
    package var gigaflops: Double
    package var gigabytesPerSecond: Double
    /// How many bytes were moved at that rate: few may have come from a cache, and more would then come slower.
    package var movedByteCount: Int

    package init(gigaflops: Double, gigabytesPerSecond: Double, movedByteCount: Int = 0) {
        self.gigaflops = gigaflops
        self.gigabytesPerSecond = gigabytesPerSecond
        self.movedByteCount = movedByteCount
    }

    /// Takes over what is better of a layer that took `milliseconds`.
    package mutating func learn(from work: Work, in milliseconds: Double) {
        gigaflops = max(gigaflops, work.gigaflops(in: milliseconds))
        let rate = work.gigabytesPerSecond(in: milliseconds)
        if rate > gigabytesPerSecond { (gigabytesPerSecond, movedByteCount) = (rate, work.byteCount) }
    }

    /// For people: `4.0 GFLOP/s, 2.0 GB/s (of 0.4 MB)`.
    package var text: String {
        "\(decimal(gigaflops, places: 1)) GFLOP/s, \(decimal(gigabytesPerSecond, places: 1)) GB/s "
            + "(of \(decimal(Double(movedByteCount) / 1e6, places: 1)) MB)"
    }

    /// The milliseconds that work takes at least at these rates; nil where they are not known.
    package func floor(of work: Work) -> Double? {
        guard gigaflops > 0, gigabytesPerSecond > 0 else { return nil }
        return max(Double(work.operationCount) / gigaflops, Double(work.byteCount) / gigabytesPerSecond) / 1e6
    }
}

extension Graph {
    /// What a layer has to do for all pictures of a batch.
    ///
    /// - Parameter valueByteCount: Bytes of a stored activation or weight.
    package func work(of layer: Layer, batch: Int, valueByteCount: Int) -> Work {
        var valueCount = shape(of: layer.output).elementCount
        for tensor in Set(layer.reads) {
            let count = Double(shape(of: tensor).elementCount)
            valueCount += Int(tensor == layer.inputs.first ? count * layer.operation.shareRead : count)
        }
        return Work(
            operationCount: 2 * macCount(of: layer) * batch,
            byteCount: (valueCount * batch + layer.parameterCount) * valueByteCount)
    }

    /// What all layers have to do.
    package func work(batch: Int, valueByteCount: Int) -> Work {
        layers.reduce(Work(operationCount: 0, byteCount: 0)) { sum, layer in
            let work = work(of: layer, batch: batch, valueByteCount: valueByteCount)
            return Work(
                operationCount: sum.operationCount + work.operationCount, byteCount: sum.byteCount + work.byteCount)
        }
    }
}

extension Operation {
    /// The share of the input's pixels that are looked at: a step that is longer than the window leaves some out.
    fileprivate var shareRead: Double {
        func share(_ kernel: Extent, _ stride: Extent) -> Double {
            min(1, Double(kernel.height) / Double(stride.height)) * min(1, Double(kernel.width) / Double(stride.width))
        }
        return switch self {
        case .convolution(let convolution), .depthwiseConvolution(let convolution):
            share(convolution.kernel, convolution.stride)
        case .averagePool(let pool), .maxPool(let pool): share(pool.kernel, pool.stride)
        default: 1
        }
    }
}
