extension ModelSummary {
    /// The layers after all passes, one a line; what does the work of several layers of the file has all their names.
    package var layerTable: String {
        var table = AlignedText([.right, .left, .right, .right, .right, .left, .left])
        table.append("#", "operator", "result", "multiply-adds", "parameters", "details", "layer")
        for (index, layer) in optimized.layers.enumerated() {
            let macCount = optimized.macCount(of: layer)
            let details = [
                layer.operation.details, layer.pictureBias == nil ? "" : "picture bias",
                layer.residual == nil ? "" : "residual", layer.activation == .none ? "" : layer.activation.rawValue,
            ].filter { !$0.isEmpty }
            table.append(
                "\(index)", layer.operation.nameWithKernel, "\(optimized.shape(of: layer.output))",
                macCount == 0 ? "" : operationText(macCount),
                layer.parameterCount == 0 ? "" : grouped(layer.parameterCount), details.joined(separator: ", "),
                layer.members == [layer.name] ? layer.name : layer.members.joined(separator: " + "))
        }
        return table.lines.joined(separator: "\n")
    }
}
