import ModelGraph

extension OperatorCase {
    /// One tap: matrix products over the pixels.
    static let pointwise: [OperatorCase] = {
        let maps: [Extent] = [1, [15, 7], 33, [2, 3]]
        let channels = [
            (1, 1), (3, 8), (4, 12), (8, 8), (8, 21), (12, 48), (21, 4), (21, 21), (48, 80), (80, 12), (80, 1), (1, 16),
            (13, 33), (16, 64),
        ]
        var rows: [OperatorCase] = []
        for (index, (inputs, outputs)) in channels.enumerated() {
            for (offset, map) in maps.enumerated() {
                rows.append(
                    OperatorCase(
                        .convolution(to: outputs, kernel: 1, bias: (index + offset) % 4 != 0),
                        Shape(height: map.height, width: map.width, channels: inputs),
                        activation: activation(index + offset), batch: (index + offset) % 5 == 1 ? 3 : 1))
            }
        }
        return rows + [
            OperatorCase(.convolution(to: 80, kernel: 1), [15, 7, 480], activation: .relu6),
            OperatorCase(.convolution(to: 480, kernel: 1), [15, 7, 80], activation: .relu6),
            OperatorCase(.convolution(to: 480, kernel: 1), [1, 1, 480], batch: 3),
            OperatorCase(.convolution(to: 480, kernel: 1, bias: false), [9, 9, 480]),
            OperatorCase(.convolution(to: 80, kernel: 1), [33, 33, 480]),
            OperatorCase(.convolution(to: 16, kernel: 1), [65, 65, 8], activation: .relu6),
            OperatorCase(.convolution(to: 21, kernel: 1), [65, 65, 48]),
            OperatorCase(.convolution(to: 21, kernel: 1, stride: 2), [33, 33, 12]),
            OperatorCase(.convolution(to: 48, kernel: 1, stride: 2), [15, 7, 21], activation: .relu, batch: 3),
            OperatorCase(.convolution(to: 8, kernel: 1, stride: [1, 3]), [15, 7, 16]),
            OperatorCase(.convolution(to: 8, kernel: 1, padding: 1), [15, 7, 8]),
            OperatorCase(.convolution(to: 12, kernel: 1, stride: 2, padding: [0, 1, 2, 0]), [7, 7, 4]),
            OperatorCase(.convolution(to: 12, kernel: 1, dilation: 4), [7, 7, 12]),
            OperatorCase(.convolution(to: 21, kernel: 1), [15, 7, 48], values: .zeros),
            OperatorCase(.convolution(to: 21, kernel: 1), [15, 7, 48], values: .large),
            OperatorCase(.convolution(to: 48, kernel: 1), [1, 257, 8], batch: 3),
        ]
    }()

    /// Windows over all channels: stems, decoders, and kernels that no fast path expects.
    static let dense: [OperatorCase] = [
        OperatorCase(
            .convolution(to: 16, kernel: 3, stride: 2, padding: [0, 0, 1, 1]), [65, 65, 3], activation: .relu6),
        OperatorCase(
            .convolution(to: 16, kernel: 3, stride: 2, padding: 1), [33, 33, 3], activation: .hardSwish, batch: 3),
        OperatorCase(.convolution(to: 64, kernel: 7, stride: 2, padding: 3), [33, 33, 3], activation: .relu),
        OperatorCase(
            .convolution(to: 32, kernel: 3, stride: 2, padding: [1, 1, 0, 0]), [64, 64, 3], activation: .relu6),
        OperatorCase(.convolution(to: 1, kernel: 3, padding: 1), [15, 7, 1]),
        OperatorCase(.convolution(to: 1, kernel: 3, padding: 1), [1, 1, 1]),
        OperatorCase(.convolution(to: 8, kernel: 3, padding: 1), [1, 1, 4], activation: .relu),
        OperatorCase(.convolution(to: 8, kernel: 3), [3, 3, 4]),
        OperatorCase(.convolution(to: 12, kernel: 3, padding: 1), [15, 7, 8], batch: 3),
        OperatorCase(.convolution(to: 21, kernel: 3, padding: 1), [15, 7, 12], activation: .sigmoid),
        OperatorCase(.convolution(to: 48, kernel: 3, padding: 1, bias: false), [15, 7, 21]),
        OperatorCase(.convolution(to: 8, kernel: 3, padding: 1), [33, 33, 48], activation: .relu6),
        OperatorCase(.convolution(to: 80, kernel: 3, padding: 1), [15, 7, 80]),
        OperatorCase(.convolution(to: 8, kernel: 3, padding: 1), [9, 9, 480]),
        OperatorCase(.convolution(to: 480, kernel: 3, padding: 1), [5, 5, 8]),
        OperatorCase(.convolution(to: 4, kernel: 3, padding: 1), [65, 65, 8], activation: .hardSigmoid),
        OperatorCase(.convolution(to: 16, kernel: 3, padding: 1), [33, 33, 16], activation: .relu),
        OperatorCase(.convolution(to: 21, kernel: 3, stride: 2, padding: 1), [15, 7, 16]),
        OperatorCase(.convolution(to: 12, kernel: 3, stride: [2, 1], padding: [1, 0, 2, 1]), [15, 7, 12], batch: 3),
        OperatorCase(.convolution(to: 8, kernel: 3, stride: 3, padding: [2, 0, 0, 2]), [16, 16, 8]),
        OperatorCase(.convolution(to: 12, kernel: 5, padding: 2), [15, 7, 4], activation: .relu),
        OperatorCase(.convolution(to: 8, kernel: 5, stride: 2, padding: [1, 2, 2, 1]), [33, 33, 3]),
        OperatorCase(.convolution(to: 5, kernel: 5, padding: 4), [1, 1, 8]),
        OperatorCase(.convolution(to: 4, kernel: 7, padding: 3), [15, 7, 8], batch: 3),
        OperatorCase(.convolution(to: 8, kernel: [15, 7]), [15, 7, 8]),
        OperatorCase(.convolution(to: 21, kernel: [1, 5], padding: [0, 2, 0, 2]), [15, 7, 8]),
        OperatorCase(.convolution(to: 8, kernel: [3, 1], padding: [1, 0, 1, 0]), [15, 7, 21]),
        OperatorCase(.convolution(to: 8, kernel: 2), [15, 7, 8]),
        OperatorCase(.convolution(to: 16, kernel: 2, stride: 2), [33, 33, 12], activation: .relu6),
        OperatorCase(.convolution(to: 12, kernel: 4, stride: 2, padding: [0, 1, 3, 2]), [15, 7, 3]),
        OperatorCase(.convolution(to: 8, kernel: 3, padding: [4, 0, 0, 5]), [6, 5, 8]),
        OperatorCase(.convolution(to: 16, kernel: 3, padding: 1), [15, 7, 8], values: .zeros),
        OperatorCase(.convolution(to: 16, kernel: 3, padding: 1), [15, 7, 8], values: .large),
        OperatorCase(.convolution(to: 16, kernel: 3, padding: 1), [1, 40, 16], batch: 3),
        OperatorCase(.convolution(to: 16, kernel: 3, padding: 1), [40, 1, 16], activation: .relu),
    ]

    /// Atrous convolutions, some reaching past the whole map, as in a spatial pyramid on a small picture.
    static let dilated: [OperatorCase] =
        [2, 4, 12, 24, 36].flatMap { (rate: Int) -> [OperatorCase] in
            let dilation = Extent(rate)
            let padding = Padding(rate)
            return [
                OperatorCase(
                    .convolution(to: 16, kernel: 3, dilation: dilation, padding: padding), [17, 17, 24],
                    activation: .relu),
                OperatorCase(
                    .convolution(to: 21, kernel: 3, dilation: dilation, padding: padding), [15, 7, 12], batch: 3),
                OperatorCase(
                    .convolution(to: 8, kernel: 3, dilation: dilation, padding: padding), [33, 33, 8],
                    activation: .relu6),
                OperatorCase(.convolution(to: 4, kernel: 3, dilation: dilation, padding: padding), [1, 1, 3]),
                OperatorCase(
                    .depthwise(kernel: 3, dilation: dilation, padding: padding), [17, 17, 48], activation: .relu6),
                OperatorCase(.depthwise(kernel: 3, dilation: dilation, padding: padding), [15, 7, 21], batch: 3),
                OperatorCase(.depthwise(kernel: 3, dilation: dilation, padding: padding), [1, 1, 12]),
            ]
        } + [
            OperatorCase(.convolution(to: 12, kernel: 3, dilation: 2), [15, 7, 8]),
            OperatorCase(.convolution(to: 12, kernel: 3, stride: 2, dilation: 2, padding: 2), [33, 33, 8]),
            OperatorCase(.convolution(to: 12, kernel: 3, dilation: [1, 4], padding: [1, 4, 1, 4]), [15, 7, 8]),
            OperatorCase(.convolution(to: 8, kernel: 5, dilation: 2, padding: [4, 3, 2, 5]), [15, 7, 4]),
            OperatorCase(.convolution(to: 8, kernel: 2, dilation: 3, padding: [0, 3, 3, 0]), [9, 9, 8], batch: 3),
            OperatorCase(.convolution(to: 5, kernel: 3, dilation: 36, padding: [36, 0, 36, 72]), [2, 3, 7]),
            OperatorCase(.depthwise(kernel: 3, dilation: 4, padding: 4), [33, 33, 80], activation: .relu6),
            OperatorCase(.depthwise(kernel: 3, dilation: 4), [15, 9, 16]),
            OperatorCase(.depthwise(kernel: 3, stride: 2, dilation: 2, padding: [2, 1, 1, 2]), [15, 7, 20]),
            OperatorCase(.depthwise(kernel: 5, dilation: [2, 1], padding: [4, 2, 4, 2]), [15, 7, 12]),
        ]

    /// Groups of several channels, groups of one that give several, and depthwise written as grouped.
    static let grouped: [OperatorCase] = [
        OperatorCase(.convolution(to: 8, kernel: 1, groups: 2), [15, 7, 8]),
        OperatorCase(.convolution(to: 21, kernel: 1, groups: 3), [15, 7, 12], activation: .relu, batch: 3),
        OperatorCase(.convolution(to: 48, kernel: 3, padding: 1, groups: 4), [15, 7, 80], activation: .relu6),
        OperatorCase(.convolution(to: 32, kernel: 3, stride: 2, padding: 1, groups: 2), [33, 33, 32]),
        OperatorCase(.convolution(to: 16, kernel: 3, padding: 1, groups: 8), [15, 7, 8], batch: 3),
        OperatorCase(.convolution(to: 21, kernel: 3, padding: 1, groups: 21), [15, 7, 21]),
        OperatorCase(
            .convolution(to: 16, kernel: 3, dilation: 2, padding: 2, groups: 16), [33, 33, 16], activation: .relu),
        OperatorCase(.convolution(to: 5, kernel: 3, padding: 1, groups: 5), [9, 9, 15]),
        OperatorCase(.convolution(to: 80, kernel: 1, groups: 80), [7, 5, 480]),
        OperatorCase(
            .convolution(to: 12, kernel: [3, 5], dilation: 24, padding: [24, 48, 24, 48], groups: 3), [9, 9, 6]),
        OperatorCase(.convolution(to: 9, kernel: 3, padding: 1, groups: 3, bias: false), [1, 1, 3]),
    ]

    /// Each channel on its own, over channels that fill vector registers and that do not.
    static let depthwise: [OperatorCase] =
        [1, 3, 4, 8, 12, 21, 48, 80, 480].enumerated().flatMap { index, channels -> [OperatorCase] in
            let side = channels > 100 ? 9 : 33
            return [
                OperatorCase(.depthwise(kernel: 3, padding: 1), [15, 7, channels], activation: activation(index)),
                OperatorCase(
                    .depthwise(kernel: 3, stride: 2, padding: [0, 0, 1, 1]),
                    Shape(height: side, width: side, channels: channels),
                    activation: activation(index + 2)),
                OperatorCase(
                    .depthwise(kernel: 5, padding: 2, bias: false), [15, 7, channels],
                    activation: activation(index + 1), batch: index % 3 == 0 ? 3 : 1),
            ]
        } + [
            OperatorCase(.depthwise(kernel: 3, padding: 1), [1, 1, 21], activation: .relu6),
            OperatorCase(.depthwise(kernel: 3, padding: 1), [1, 1, 8], batch: 3),
            OperatorCase(.depthwise(kernel: 3), [3, 3, 5]),
            OperatorCase(.depthwise(kernel: 3, padding: 1), [65, 65, 16], activation: .relu6),
            OperatorCase(.depthwise(kernel: 3, stride: 2, padding: 1), [65, 65, 12], activation: .relu6, batch: 3),
            OperatorCase(.depthwise(kernel: 3, stride: 2, padding: [1, 1, 0, 0]), [15, 7, 13]),
            OperatorCase(.depthwise(kernel: 3, stride: [1, 2], padding: [2, 0, 1, 1]), [15, 7, 24]),
            OperatorCase(.depthwise(kernel: 3, stride: 3, padding: 1), [16, 16, 8]),
            OperatorCase(
                .depthwise(kernel: 5, stride: 2, padding: [1, 2, 2, 1]), [33, 33, 28], activation: .hardSwish),
            OperatorCase(.depthwise(kernel: 7, padding: 3), [15, 7, 20]),
            OperatorCase(.depthwise(kernel: 7, stride: 2, padding: [2, 3, 3, 2]), [9, 9, 40], batch: 3),
            OperatorCase(.depthwise(kernel: 1), [15, 7, 11], activation: .relu),
            OperatorCase(.depthwise(kernel: 2, stride: 2), [15, 7, 16]),
            OperatorCase(.depthwise(kernel: [1, 3], padding: [0, 1, 0, 1]), [15, 7, 17]),
            OperatorCase(.depthwise(kernel: [5, 1], padding: [3, 0, 1, 0]), [15, 7, 9]),
            OperatorCase(.depthwise(kernel: [15, 7]), [15, 7, 8]),
            OperatorCase(.depthwise(kernel: 3, padding: [4, 0, 0, 5]), [6, 5, 10]),
            OperatorCase(.depthwise(kernel: 3, padding: 1), [1, 40, 16], batch: 3),
            OperatorCase(.depthwise(kernel: 3, padding: 1), [40, 1, 16]),
            OperatorCase(.depthwise(kernel: 3, padding: 1), [15, 7, 21], values: .zeros),
            OperatorCase(.depthwise(kernel: 3, padding: 1), [15, 7, 21], values: .large),
        ]

    /// Enlarging convolutions: taps that tile, overlap, leave gaps, and are cut off.
    static let transposed: [OperatorCase] = [
        OperatorCase(.transpose(to: 1, kernel: 2, stride: 2), [15, 7, 16], activation: .sigmoid),
        OperatorCase(.transpose(to: 1, kernel: 2, stride: 2), [1, 1, 1]),
        OperatorCase(.transpose(to: 8, kernel: 2, stride: 2), [1, 1, 3], batch: 3),
        OperatorCase(.transpose(to: 21, kernel: 2, stride: 2), [15, 7, 8], activation: .relu),
        OperatorCase(.transpose(to: 12, kernel: 2, stride: 2, bias: false), [33, 33, 4]),
        OperatorCase(.transpose(to: 48, kernel: 2, stride: 2), [9, 9, 21], batch: 3),
        OperatorCase(.transpose(to: 3, kernel: 2, stride: 2), [5, 5, 480]),
        OperatorCase(.transpose(to: 80, kernel: 2, stride: 2), [5, 5, 12]),
        OperatorCase(.transpose(to: 1, kernel: 2, stride: 2), [64, 64, 16], activation: .sigmoid),
        OperatorCase(.transpose(to: 8, kernel: 3, stride: 2, padding: [0, 0, 1, 1]), [15, 7, 8], activation: .relu6),
        OperatorCase(.transpose(to: 8, kernel: 3, stride: 2, padding: [1, 1, 0, 0]), [15, 7, 12]),
        OperatorCase(.transpose(to: 5, kernel: 3, padding: 1), [15, 7, 7], activation: .hardSwish),
        OperatorCase(.transpose(to: 21, kernel: 4, stride: 2, padding: 1), [15, 7, 21], batch: 3),
        OperatorCase(.transpose(to: 4, kernel: 2, stride: 3), [7, 5, 8]),
        OperatorCase(.transpose(to: 4, kernel: 1, stride: 2), [7, 5, 8], activation: .relu),
        OperatorCase(.transpose(to: 8, kernel: [3, 2], stride: [1, 2], padding: [2, 0, 0, 1]), [7, 5, 3]),
        OperatorCase(.transpose(to: 8, kernel: 5, stride: 2, padding: [2, 1, 3, 2]), [9, 9, 4]),
        OperatorCase(.transpose(to: 8, kernel: 2, stride: 2, padding: [2, 3, 1, 2]), [9, 9, 8]),
        OperatorCase(.transpose(to: 8, kernel: 2, stride: 2), [9, 9, 8], values: .zeros),
        OperatorCase(.transpose(to: 8, kernel: 2, stride: 2), [9, 9, 8], values: .large),
    ]
}
