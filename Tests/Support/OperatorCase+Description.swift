import ModelGraph

extension OperatorCase: CustomStringConvertible {
    /// The expression that makes this row; arguments at their defaults are left out.
    package var description: String {
        call(
            "OperatorCase",
            [kind.description] + shapes.map { "[\($0.height), \($0.width), \($0.channels)]" } + [
                activation == .none ? nil : "activation: .\(activation)",
                residual ? "residual: true" : nil,
                pictureBias ? "pictureBias: true" : nil,
                isInner ? "isInner: true" : nil,
                batch == 1 ? nil : "batch: \(batch)",
                values == .uniform ? nil : "values: .\(values)",
                seed == 1 ? nil : "seed: \(seed)",
            ])
    }
}

extension OperatorCase.Kind: CustomStringConvertible {
    /// The expression that makes this kind; arguments at their defaults are left out.
    package var description: String {
        func window(_ kernel: Extent, _ stride: Extent, _ dilation: Extent, _ padding: Padding) -> [String?] {
            [
                "kernel: \(kernel.literal)",
                stride == 1 ? nil : "stride: \(stride.literal)",
                dilation == 1 ? nil : "dilation: \(dilation.literal)",
                padding == 0 ? nil : "padding: \(padding.literal)",
            ]
        }
        func unlessBiased(_ bias: Bool) -> String? { bias ? nil : "bias: false" }
        return switch self {
        case .convolution(let outputs, let kernel, let stride, let dilation, let padding, let groups, let bias):
            call(
                ".convolution",
                ["to: \(outputs)"] + window(kernel, stride, dilation, padding) + [
                    groups == 1 ? nil : "groups: \(groups)", unlessBiased(bias),
                ])
        case .depthwise(let kernel, let stride, let dilation, let padding, let bias):
            call(".depthwise", window(kernel, stride, dilation, padding) + [unlessBiased(bias)])
        case .transpose(let outputs, let kernel, let stride, let padding, let bias):
            call(".transpose", ["to: \(outputs)"] + window(kernel, stride, 1, padding) + [unlessBiased(bias)])
        case .averagePool(let kernel, let stride, let padding, let countsPadding):
            call(".averagePool", window(kernel, stride, 1, padding) + [countsPadding ? "countsPadding: true" : nil])
        case .maxPool(let kernel, let stride, let padding): call(".maxPool", window(kernel, stride, 1, padding))
        case .resize(let extent, let convention): call(".resize", [extent.literal, ".\(convention)"])
        case .add: ".add"
        case .multiply: ".multiply"
        case .concatenate: ".concatenate"
        case .globalAveragePool: ".globalAveragePool"
        case .softmax: ".softmax"
        case .argMax: ".argMax"
        case .activation: ".activation"
        }
    }
}

/// A call written out, without the arguments that are nil.
private func call(_ name: String, _ arguments: [String?]) -> String {
    "\(name)(\(arguments.compactMap(\.self).joined(separator: ", ")))"
}
