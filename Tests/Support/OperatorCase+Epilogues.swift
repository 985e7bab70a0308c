import ModelGraph

extension OperatorCase {
    /// What follows an operation: residual, picture bias and activation, each with the others.
    static let epilogues: [OperatorCase] = {
        let producers: [(Kind, Shape)] = [
            (.convolution(to: 21, kernel: 1), [15, 7, 12]),
            (.convolution(to: 48, kernel: 1), [33, 33, 16]),
            (.convolution(to: 12, kernel: 3, stride: 2, padding: 1), [15, 7, 3]),
            (.convolution(to: 16, kernel: 3, dilation: 2, padding: 2), [15, 7, 8]),
            (.convolution(to: 12, kernel: 3, padding: 1, groups: 2), [15, 7, 8]),
            (.depthwise(kernel: 3, padding: 1), [15, 7, 21]),
            (.depthwise(kernel: 3, stride: 2, padding: [0, 0, 1, 1]), [33, 33, 16]),
            (.transpose(to: 8, kernel: 2, stride: 2), [7, 5, 4]),
        ]
        var rows: [OperatorCase] = []
        for (index, (kind, map)) in producers.enumerated() {
            rows += [
                OperatorCase(kind, map, residual: true),
                OperatorCase(kind, map, activation: .relu6, residual: true, batch: 3),
                OperatorCase(kind, map, activation: activation(index + 1), pictureBias: true),
                OperatorCase(
                    kind, map, activation: activation(index + 3), residual: true, pictureBias: true,
                    batch: index % 2 == 0 ? 3 : 1),
            ]
        }
        // Every activation behind the commonest producer, at a width that leaves part of a vector.
        rows += Activation.allCases.map {
            OperatorCase(
                .convolution(to: 21, kernel: 1), [15, 7, 8], activation: $0, residual: true, pictureBias: true)
        }
        // The other operations are followed by an epilogue only in graphs made by hand, which are graphs too.
        return rows + [
            OperatorCase(.convolution(to: 16, kernel: 1, stride: 2), [33, 33, 8], residual: true, pictureBias: true),
            OperatorCase(
                .convolution(to: 256, kernel: 1), [17, 17, 80], activation: .relu, pictureBias: true, batch: 3),
            OperatorCase(
                .convolution(to: 80, kernel: 1), [1, 1, 48], activation: .relu, residual: true, pictureBias: true),
            OperatorCase(.add, [15, 7, 12], [15, 7, 12], activation: .relu, residual: true),
            OperatorCase(
                .multiply, [15, 7, 21], [1, 1, 21], activation: .hardSwish, residual: true, pictureBias: true),
            OperatorCase(.concatenate, [15, 7, 5], [15, 7, 3], activation: .relu6, residual: true, pictureBias: true),
            OperatorCase(.globalAveragePool, [15, 7, 12], residual: true, batch: 3),
            OperatorCase(.averagePool(kernel: 3, padding: 1), [15, 7, 8], activation: .relu, pictureBias: true),
            OperatorCase(.maxPool(kernel: 2, stride: 2), [15, 7, 8], residual: true),
            OperatorCase(.resize([9, 11], .halfPixel), [5, 4, 21], activation: .sigmoid, residual: true, batch: 3),
            OperatorCase(.softmax, [9, 9, 21], residual: true),
            OperatorCase(.activation, [15, 7, 21], activation: .hardSwish, residual: true, pictureBias: true),
        ]
    }()
}
