import ModelGraph

extension Graph {
    /// Checks what every graph promises: order, single writers, unique names, shapes that fit.
    ///
    /// Building and reading graphs keeps these promises; passes could break them.
    package func check() throws(GraphError) {
        var isWritten = [Bool](repeating: false, count: tensors.count)
        var names: Set<String> = []
        for input in inputs { isWritten[input.index] = true }
        for layer in layers {
            guard names.insert(layer.name).inserted else { throw GraphError(layer: layer.name, "is not alone") }
            for tensor in layer.reads where !isWritten[tensor.index] {
                throw GraphError(layer: layer.name, "reads \(self[tensor].name), which is not written yet")
            }
            guard !isWritten[layer.output.index] else {
                throw GraphError(layer: layer.name, "writes \(self[layer.output].name) again")
            }
            isWritten[layer.output.index] = true
            guard !layer.members.isEmpty else { throw GraphError(layer: layer.name, "has no members") }

            let shape = try layer.operation.outputShape(for: layer.inputs.map(self.shape(of:)), layer: layer.name)
            guard shape == self.shape(of: layer.output) else {
                throw GraphError(layer: layer.name, "gives \(shape), declared \(self.shape(of: layer.output))")
            }
            if let residual = layer.residual, self.shape(of: residual) != shape {
                throw GraphError(layer: layer.name, "adds \(self.shape(of: residual)) to \(shape)")
            }
            let constant = Shape(height: 1, width: 1, channels: shape.channels)
            if let pictureBias = layer.pictureBias, self.shape(of: pictureBias) != constant {
                throw GraphError(layer: layer.name, "adds \(self.shape(of: pictureBias)) to every pixel of \(shape)")
            }
        }
        for output in outputs {
            guard isWritten[output.index], !inputs.contains(output) else {
                throw GraphError(layer: self[output].name, "is an output that no layer writes")
            }
        }
        guard Set(tensors.map(\.name)).count == tensors.count else {
            throw GraphError(layer: name, "has tensors of the same name")
        }
    }
}
