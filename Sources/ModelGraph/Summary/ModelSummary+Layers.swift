extension ModelSummary {
    /// The layers after all passes, one a line, with the layers of the file that each stands for where it is not one alone.
    public var layerTable: String {
        var table = TextTable([.right, .left, .right, .right, .right, .left, .left])
        table.append("#", "operator", "result", "multiply-adds", "weights", "details", "layer")
        for (index, layer) in optimized.layers.enumerated() {
            let macCount = optimized.macCount(of: layer)
            let details = [
                layer.operation.details, layer.pictureBias == nil ? "" : "picture bias",
                layer.residual == nil ? "" : "residual", layer.activation == .none ? "" : layer.activation.rawValue,
            ].filter { !$0.isEmpty }
            table.append(
                "\(index)", layer.operation.nameWithKernel, "\(optimized.shape(of: layer.output))",
                macCount == 0 ? "" : "\(decimal(macCount, over: 1_000_000, places: 2)) M",
                layer.parameterCount == 0 ? "" : grouped(layer.parameterCount), details.joined(separator: ", "),
                layer.members == [layer.name] ? layer.name : layer.members.joined(separator: " + "))
        }
        return table.lines().joined(separator: "\n")
    }
}
