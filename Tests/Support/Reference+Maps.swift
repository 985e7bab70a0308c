import ModelGraph

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension Reference {
    /// Combines two maps value by value; a 1x1 map is repeated over the other's pixels.
    static func combine(
        _ first: ReferenceTensor, _ second: ReferenceTensor, _ shape: Shape, _ function: (Double, Double) -> Double
    ) -> ReferenceTensor {
        func value(_ map: ReferenceTensor, _ n: Int, _ y: Int, _ x: Int, _ c: Int) -> Double {
            map.shape.extent == Extent(1) ? map[n, 0, 0, c] : map[n, y, x, c]
        }
        return ReferenceTensor(batch: first.batch, shape: shape) { n, y, x, c in
            function(value(first, n, y, x, c), value(second, n, y, x, c))
        }
    }

    /// Channels one after another.
    static func concatenate(_ inputs: [ReferenceTensor], _ shape: Shape) -> ReferenceTensor {
        ReferenceTensor(batch: inputs[0].batch, shape: shape) { n, y, x, c in
            var channel = c
            var index = 0
            while channel >= inputs[index].shape.channels {
                channel -= inputs[index].shape.channels
                index += 1
            }
            return inputs[index][n, y, x, channel]
        }
    }

    /// Mean of each channel over all pixels.
    static func averageWholeMap(_ input: ReferenceTensor, _ shape: Shape) -> ReferenceTensor {
        ReferenceTensor(batch: input.batch, shape: shape) { n, _, _, c in
            var sum = 0.0
            for y in 0..<input.shape.height {
                for x in 0..<input.shape.width { sum += input[n, y, x, c] }
            }
            return sum / Double(input.shape.pixelCount)
        }
    }

    /// Mean of each channel in a sliding window.
    static func average(_ pool: Pool, _ input: ReferenceTensor, _ shape: Shape) -> ReferenceTensor {
        ReferenceTensor(batch: input.batch, shape: shape) { n, y, x, c in
            let inside = window(pool, over: input, n, y, x, c)
            let count = pool.countsPadding ? pool.kernel.height * pool.kernel.width : inside.count
            return inside.reduce(0, +) / Double(count)
        }
    }

    /// Largest value of each channel in a sliding window.
    static func maximum(_ pool: Pool, _ input: ReferenceTensor, _ shape: Shape) -> ReferenceTensor {
        ReferenceTensor(batch: input.batch, shape: shape) { n, y, x, c in
            window(pool, over: input, n, y, x, c).max()!
        }
    }

    /// The values under the window of one output that lie inside the map.
    private static func window(_ pool: Pool, over input: ReferenceTensor, _ n: Int, _ y: Int, _ x: Int, _ c: Int)
        -> [Double]
    {
        var values: [Double] = []
        for ky in 0..<pool.kernel.height {
            for kx in 0..<pool.kernel.width {
                let sourceY = y * pool.stride.height + ky - pool.padding.top
                let sourceX = x * pool.stride.width + kx - pool.padding.left
                if (0..<input.shape.height).contains(sourceY), (0..<input.shape.width).contains(sourceX) {
                    values.append(input[n, sourceY, sourceX, c])
                }
            }
        }
        return values
    }

    /// Where an output pixel lies in the input, along one axis.
    static func sourcePosition(
        of index: Int, from inputLength: Int, to outputLength: Int, _ convention: ResizeConvention
    )
        -> Double
    {
        let i = Double(index)
        let n = Double(inputLength)
        let m = Double(outputLength)
        let position: Double =
            switch convention {
            case .alignCorners: outputLength == 1 ? 0 : i * (n - 1) / (m - 1)
            case .halfPixel: (i + 0.5) * n / m - 0.5
            case .asymmetric: i * n / m
            }
        return min(max(position, 0), n - 1)
    }

    /// Bilinear interpolation between the four pixels around each output's position.
    static func resize(_ input: ReferenceTensor, _ shape: Shape, _ convention: ResizeConvention) -> ReferenceTensor {
        ReferenceTensor(batch: input.batch, shape: shape) { n, y, x, c in
            let v = sourcePosition(of: y, from: input.shape.height, to: shape.height, convention)
            let u = sourcePosition(of: x, from: input.shape.width, to: shape.width, convention)
            let top = Int(v)
            let left = Int(u)
            let bottom = min(top + 1, input.shape.height - 1)
            let right = min(left + 1, input.shape.width - 1)
            let down = v - Double(top)
            let across = u - Double(left)
            return (1 - down) * ((1 - across) * input[n, top, left, c] + across * input[n, top, right, c])
                + down * ((1 - across) * input[n, bottom, left, c] + across * input[n, bottom, right, c])
        }
    }

    /// exp(x - max) / sum over the channels of each pixel.
    static func softmax(_ input: ReferenceTensor) -> ReferenceTensor {
        ReferenceTensor(batch: input.batch, shape: input.shape) { n, y, x, c in
            let pixel = (0..<input.shape.channels).map { input[n, y, x, $0] }
            let largest = pixel.max()!
            return exp(pixel[c] - largest) / pixel.map { exp($0 - largest) }.reduce(0, +)
        }
    }

    /// Index of the largest channel of each pixel, the lowest of equals.
    static func argMax(_ input: ReferenceTensor, _ shape: Shape) -> ReferenceTensor {
        ReferenceTensor(batch: input.batch, shape: shape) { n, y, x, _ in
            var best = 0
            for channel in 0..<input.shape.channels where input[n, y, x, channel] > input[n, y, x, best] {
                best = channel
            }
            return Double(best)
        }
    }
}
