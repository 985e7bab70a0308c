import ModelGraph

extension Reference {
    /// out[o, y, x] = bias[o] + sum of in[i, y * stride + ky * dilation - top, ...] * weights[o, i, ky, kx] over the
    /// taps that lie inside the map and the input channels of o's group.
    static func convolve(_ convolution: Convolution, groups: Int, _ input: ReferenceTensor, _ shape: Shape)
        -> ReferenceTensor
    {
        let weights = convolution.weights.doubles
        let bias = convolution.bias?.doubles
        let kernel = convolution.kernel
        let stride = convolution.stride
        let dilation = convolution.dilation
        let padding = convolution.padding
        let groupInputs = input.shape.channels / groups
        let groupOutputs = shape.channels / groups
        return ReferenceTensor(batch: input.batch, shape: shape) { n, y, x, o in
            let firstInput = o / groupOutputs * groupInputs
            var sum = bias?[o] ?? 0
            for ky in 0..<kernel.height {
                let sourceY = y * stride.height + ky * dilation.height - padding.top
                guard (0..<input.shape.height).contains(sourceY) else { continue }
                for kx in 0..<kernel.width {
                    let sourceX = x * stride.width + kx * dilation.width - padding.left
                    guard (0..<input.shape.width).contains(sourceX) else { continue }
                    for i in 0..<groupInputs {
                        let weight = weights[((o * groupInputs + i) * kernel.height + ky) * kernel.width + kx]
                        sum += input[n, sourceY, sourceX, firstInput + i] * weight
                    }
                }
            }
            return sum
        }
    }

    /// out[o, y * stride + ky - top, x * stride + kx - left] += in[i, y, x] * weights[o, i, ky, kx], on top of the bias.
    static func convolveTransposed(_ convolution: Convolution, _ input: ReferenceTensor, _ shape: Shape)
        -> ReferenceTensor
    {
        let weights = convolution.weights.doubles
        let bias = convolution.bias?.doubles
        let kernel = convolution.kernel
        let channels = input.shape.channels
        var result = ReferenceTensor(batch: input.batch, shape: shape) { _, _, _, o in bias?[o] ?? 0 }
        for n in 0..<input.batch {
            for y in 0..<input.shape.height {
                for x in 0..<input.shape.width {
                    for ky in 0..<kernel.height {
                        let targetY = y * convolution.stride.height + ky - convolution.padding.top
                        guard (0..<shape.height).contains(targetY) else { continue }
                        for kx in 0..<kernel.width {
                            let targetX = x * convolution.stride.width + kx - convolution.padding.left
                            guard (0..<shape.width).contains(targetX) else { continue }
                            for o in 0..<shape.channels {
                                for i in 0..<channels {
                                    let weight = weights[((o * channels + i) * kernel.height + ky) * kernel.width + kx]
                                    result[n, targetY, targetX, o] += input[n, y, x, i] * weight
                                }
                            }
                        }
                    }
                }
            }
        }
        return result
    }
}
