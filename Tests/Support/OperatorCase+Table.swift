import ModelGraph

extension OperatorCase {
    /// Every row that every backend must compute.
    ///
    /// Not a full product of sizes, but each value of each property beside awkward values of the others: maps of one
    /// pixel, odd maps, channels that fill no vector register, windows larger than the map.
    package static let table: [OperatorCase] = {
        let rows =
            pointwise + dense + dilated + grouped + depthwise + transposed + elementwise + concatenations + pools
            + resizes + pixelwise + epilogues
        // A picture has few channels: on those each row is also run behind another layer.
        let inner = rows.filter { $0.shapes[0].channels <= 4 }.map { row in
            var row = row
            row.isInner = true
            return row
        }
        return rows + inner
    }()

    /// Goes round and round the activations, so that neighbouring rows differ in it.
    static func activation(_ index: Int) -> Activation { Activation.allCases[index % Activation.allCases.count] }
}

// MARK: Element by element

extension OperatorCase {
    /// Sums and products, with a 1x1 map on either side, on both, on none.
    static let elementwise: [OperatorCase] = [Kind.add, .multiply].flatMap { kind -> [OperatorCase] in
        let maps: [Shape] = [
            [1, 1, 1], [1, 1, 21], [15, 7, 3], [15, 7, 8], [33, 33, 12], [65, 65, 4], [7, 1, 5], [1, 9, 48],
        ]
        let pairs = maps.enumerated().flatMap { index, map -> [OperatorCase] in
            let pixel: Shape = [1, 1, map.channels]
            return [
                OperatorCase(kind, map, map, activation: activation(index), batch: index % 3 == 0 ? 3 : 1),
                OperatorCase(kind, map, pixel, activation: activation(index + 1), batch: index % 2 == 0 ? 3 : 1),
                OperatorCase(kind, pixel, map, activation: activation(index + 2), batch: index % 2 == 1 ? 3 : 1),
            ]
        }
        return pairs + [
            OperatorCase(kind, [9, 9, 80], [9, 9, 80], values: .large),
            OperatorCase(kind, [9, 9, 480], [1, 1, 480], values: .large),
            OperatorCase(kind, [9, 9, 13], [9, 9, 13], activation: .hardSwish, values: .zeros),
        ]
    }

    /// One to five inputs, channels even and odd.
    static let concatenations: [OperatorCase] = [
        OperatorCase(.concatenate, [15, 7, 5]),
        OperatorCase(.concatenate, [15, 7, 8], [15, 7, 8]),
        OperatorCase(.concatenate, [15, 7, 16], [15, 7, 48]),
        OperatorCase(.concatenate, [33, 33, 1], [33, 33, 3]),
        OperatorCase(.concatenate, [33, 33, 21], [33, 33, 12], batch: 3),
        OperatorCase(.concatenate, [1, 1, 480], [1, 1, 1], [1, 1, 80]),
        OperatorCase(.concatenate, [5, 5, 3], [5, 5, 5], [5, 5, 7], batch: 3),
        OperatorCase(.concatenate, [65, 65, 4], [65, 65, 1], [65, 65, 2], [65, 65, 8]),
        OperatorCase(.concatenate, [9, 11, 1], [9, 11, 1], [9, 11, 1], [9, 11, 1], [9, 11, 1]),
        OperatorCase(.concatenate, [17, 17, 21], [17, 17, 80], [17, 17, 12], [17, 17, 48], [17, 17, 3], batch: 3),
        OperatorCase(.concatenate, [17, 17, 16], [17, 17, 16], [17, 17, 16], [17, 17, 16], [17, 17, 16]),
        OperatorCase(.concatenate, [6, 4, 7], [6, 4, 9], activation: .relu, batch: 3),
    ]

    /// Soft-max, arg-max and activations alone.
    static let pixelwise: [OperatorCase] =
        [1, 2, 3, 8, 12, 21, 48, 80, 480].flatMap { channels -> [OperatorCase] in
            [
                OperatorCase(.softmax, [15, 7, channels], batch: channels == 21 ? 3 : 1),
                OperatorCase(.argMax, [15, 7, channels], batch: channels == 21 ? 3 : 1),
                OperatorCase(.argMax, [7, 15, channels], values: .few),
            ]
        } + [
            OperatorCase(.softmax, [1, 1, 21], values: .large),
            OperatorCase(.softmax, [33, 33, 21], values: .large),
            OperatorCase(.softmax, [33, 33, 5], values: .zeros),
            OperatorCase(.softmax, [9, 9, 21], values: .few, seed: 2),
            OperatorCase(.softmax, [65, 65, 2], values: .negative),
            OperatorCase(.argMax, [1, 1, 1]),
            OperatorCase(.argMax, [33, 33, 21], values: .large),
            OperatorCase(.argMax, [33, 33, 21], values: .zeros),
            OperatorCase(.argMax, [65, 65, 21], values: .negative),
            OperatorCase(.argMax, [65, 65, 21], batch: 3, values: .few),
        ]
        + Activation.allCases.enumerated().flatMap { index, activation -> [OperatorCase] in
            [
                OperatorCase(.activation, [15, 7, 21], activation: activation),
                OperatorCase(.activation, [1, 1, 1 + index], activation: activation, batch: 3),
                OperatorCase(.activation, [33, 33, 8], activation: activation, values: .large),
                OperatorCase(.activation, [5, 5, 3], activation: activation, values: .zeros),
            ]
        }
}

// MARK: Windows without weights, and resizes

extension OperatorCase {
    /// Averages and maxima: padding on every side, windows larger than the map, both ways to count.
    static let pools: [OperatorCase] =
        [[1, 1, 1], [1, 1, 480], [15, 7, 3], [15, 7, 8], [33, 33, 21], [65, 65, 4], [33, 33, 80], [2, 9, 12]]
        .enumerated()
        .flatMap { (index: Int, map: Shape) -> [OperatorCase] in
            [OperatorCase(.globalAveragePool, map, activation: activation(index), batch: index % 2 == 0 ? 3 : 1)]
        } + [
            OperatorCase(.globalAveragePool, [65, 65, 21], values: .large),
            OperatorCase(.averagePool(kernel: 2, stride: 2), [33, 33, 8]),
            OperatorCase(.averagePool(kernel: 2, stride: 2), [15, 7, 21], batch: 3),
            OperatorCase(.averagePool(kernel: 3, padding: 1), [15, 7, 3]),
            OperatorCase(.averagePool(kernel: 3, padding: 1, countsPadding: true), [15, 7, 3]),
            OperatorCase(.averagePool(kernel: 3, stride: 2, padding: [0, 0, 1, 1]), [33, 33, 12], activation: .relu6),
            OperatorCase(
                .averagePool(kernel: 3, stride: 2, padding: [0, 0, 1, 1], countsPadding: true), [33, 33, 12], batch: 3),
            OperatorCase(.averagePool(kernel: [15, 7]), [15, 7, 80]),
            OperatorCase(.averagePool(kernel: 16, stride: 16), [65, 65, 4]),
            OperatorCase(.averagePool(kernel: [1, 3], stride: [1, 2], padding: [0, 2, 0, 1]), [9, 17, 5]),
            OperatorCase(.averagePool(kernel: 5, padding: 4), [1, 1, 48]),
            OperatorCase(.averagePool(kernel: 5, padding: 4, countsPadding: true), [3, 1, 48]),
            OperatorCase(.averagePool(kernel: 1, stride: 2), [9, 9, 16]),
            OperatorCase(.maxPool(kernel: 2, stride: 2), [33, 33, 8]),
            OperatorCase(.maxPool(kernel: 3, stride: 2, padding: 1), [65, 65, 16], batch: 3),
            OperatorCase(.maxPool(kernel: 3, padding: 1), [15, 7, 3], values: .negative),
            OperatorCase(.maxPool(kernel: 3, stride: 2, padding: [0, 0, 1, 1]), [33, 33, 21], values: .negative),
            OperatorCase(
                .maxPool(kernel: [2, 5], stride: [3, 1], padding: [1, 4, 0, 2]), [9, 17, 12], values: .negative),
            OperatorCase(.maxPool(kernel: 5, padding: 4), [1, 1, 48], values: .negative),
            OperatorCase(.maxPool(kernel: [15, 7]), [15, 7, 80], activation: .hardSwish),
            OperatorCase(.maxPool(kernel: 7, stride: 4, padding: 3), [33, 33, 1], values: .large),
            OperatorCase(.maxPool(kernel: 1), [5, 5, 4], values: .zeros),
        ]

    /// Up, down, identity, from one pixel and to one, in every convention.
    static let resizes: [OperatorCase] = ResizeConvention.allCases.flatMap { convention -> [OperatorCase] in
        [
            OperatorCase(.resize(65, convention), [33, 33, 8]),
            OperatorCase(.resize(33, convention), [65, 65, 3]),
            OperatorCase(.resize(33, convention), [33, 33, 21]),
            OperatorCase(.resize(33, convention), [1, 1, 48]),
            OperatorCase(.resize([33, 1], convention), [1, 33, 12]),
            OperatorCase(.resize(1, convention), [15, 7, 80], batch: 3),
            OperatorCase(.resize([31, 20], convention), [15, 7, 4], batch: 3),
            OperatorCase(.resize([7, 15], convention), [15, 7, 1]),
            OperatorCase(.resize([2, 3], convention), [15, 7, 13]),
            OperatorCase(.resize(129, convention), [17, 17, 21]),
            OperatorCase(.resize(2, convention), [1, 2, 480], activation: .relu),
            OperatorCase(.resize(16, convention), [8, 8, 16], activation: .sigmoid),
            OperatorCase(.resize([64, 64], convention), [32, 32, 5], values: .large),
        ]
    }
}
