/// A tensor of one graph, by its position in `Graph.tensors`.
package struct TensorID: Hashable, Sendable {
    package let index: Int
}

/// What is known of a tensor before the network runs.
package struct TensorDescription: Sendable {
    /// Name, unique in its graph.
    package var name: String
    /// Extent for one picture.
    package var shape: Shape
}

/// One step of a network: `activation(operation(inputs) + pictureBias + residual)`.
package struct Layer: Sendable {
    /// Name, unique in its graph.
    package var name: String
    /// Names of the layers of the model file whose work this one does, in their order.
    package var members: [String]
    package var operation: Operation
    package var inputs: [TensorID]
    /// A tensor of the output's shape that is added before the activation.
    package var residual: TensorID?
    /// A 1x1 tensor with the output's channels that is added to every pixel before the activation.
    package var pictureBias: TensorID?
    /// Applied last.
    package var activation: Activation
    package var output: TensorID

    /// Every tensor that the layer reads.
    package var reads: [TensorID] { inputs + [residual, pictureBias].compactMap(\.self) }
}

/// A network: layers in an order in which they can run, and the tensors between them.
///
/// Each tensor is either an input or written by exactly one layer, which stands before all that read it.
package struct Graph: Sendable {
    package var name: String
    /// All tensors, addressed by `TensorID`.
    package internal(set) var tensors: [TensorDescription] = []
    /// The layers, each after those that it reads from.
    package internal(set) var layers: [Layer] = []
    /// What the caller provides.
    package internal(set) var inputs: [TensorID] = []
    /// What the caller gets. Never an input.
    package var outputs: [TensorID] = []

    package init(name: String) { self.name = name }

    package subscript(_ id: TensorID) -> TensorDescription { tensors[id.index] }

    package func shape(of id: TensorID) -> Shape { tensors[id.index].shape }

    package mutating func addInput(_ name: String, _ shape: Shape) -> TensorID {
        let id = addTensor(name, shape)
        inputs.append(id)
        return id
    }

    /// Adds a layer at the end and gives its output tensor, whose shape follows from the operation.
    ///
    /// - Parameters:
    ///   - name: The layer's name; its output tensor is called `output`, or as the layer where that is nil.
    ///   - inputs: Tensors of this graph, in the operation's order.
    /// - Throws: `GraphError` when the shapes do not fit the operation.
    @discardableResult
    package mutating func append(
        _ name: String, _ operation: Operation, _ inputs: [TensorID], activation: Activation = .none,
        residual: TensorID? = nil, pictureBias: TensorID? = nil, output: String? = nil
    ) throws(GraphError) -> TensorID {
        let shape = try operation.outputShape(for: inputs.map(shape(of:)), layer: name)
        if let residual, self.shape(of: residual) != shape {
            throw GraphError(layer: name, "adds \(self.shape(of: residual)) to its result of \(shape)")
        }
        if let pictureBias, self.shape(of: pictureBias) != Shape(height: 1, width: 1, channels: shape.channels) {
            throw GraphError(layer: name, "adds \(self.shape(of: pictureBias)) to every pixel of \(shape)")
        }
        let id = addTensor(output ?? name, shape)
        layers.append(
            Layer(
                name: name, members: [name], operation: operation, inputs: inputs, residual: residual,
                pictureBias: pictureBias, activation: activation, output: id))
        return id
    }

    mutating func addTensor(_ name: String, _ shape: Shape) -> TensorID {
        tensors.append(TensorDescription(name: name, shape: shape))
        return TensorID(index: tensors.count - 1)
    }
}

/// Why a graph cannot be: the layer, and what is wrong with it.
package struct GraphError: Error, CustomStringConvertible, Sendable {
    package let layer: String
    /// What is wrong, as the rest of a sentence that begins with the layer.
    package let reason: String

    package init(layer: String, _ reason: String) {
        self.layer = layer
        self.reason = reason
    }

    /// One line: the layer and the reason.
    package var description: String { "layer \(layer): \(reason)" }
}
