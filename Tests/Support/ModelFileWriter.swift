import JSONText
import ModelGraph

/// Makes model files in memory, true ones and, by changing what it is about to write, false ones.
package struct ModelFileWriter: Sendable {
    /// One array of the container.
    package struct StoredTensor: Sendable {
        /// Name, unique in the file.
        package var name: String
        /// Extent of each dimension.
        package var shape: [Int]
        /// How the values are stored.
        package var format: Weights.Format
        /// The values, as they are stored.
        package var bytes: [UInt8]

        /// Stores values in a format.
        package init(_ name: String, _ weights: Weights, as format: Weights.Format = .float32) {
            self.name = name
            self.format = format
            shape = weights.shape
            bytes = weights.floats().flatMap { value in
                switch format {
                case .float32: withUnsafeBytes(of: value.bitPattern.littleEndian, Array.init)
                case .float16: withUnsafeBytes(of: Float16(value).bitPattern.littleEndian, Array.init)
                }
            }
        }
    }

    /// What stands under the key `silhouette`.
    package var document: JSON
    /// The arrays, in the order of their places.
    package var tensors: [StoredTensor]

    /// Describes a graph of one input and one output, made of layers that a file can hold.
    ///
    /// - Parameters:
    ///   - labels: The classes; made up where absent.
    ///   - format: How all weights are stored.
    package init(
        _ graph: Graph, kind: OutputKind = .logits, labels: [String]? = nil, format: Weights.Format = .float32
    ) {
        let input = graph.shape(of: graph.inputs[0])
        let channels = graph.shape(of: graph.outputs[0]).channels
        let labels = labels ?? (0..<max(2, channels)).map { "class \($0)" }
        document = [
            "version": 1,
            "name": .string(graph.name),
            "input": [
                "name": .string(graph[graph.inputs[0]].name), "width": .number(Double(input.width)),
                "height": .number(Double(input.height)), "order": input.channels == 1 ? "GRAY" : "RGB",
                "scale": .array(Array(repeating: 0.0078125, count: input.channels)),
                "bias": .array(Array(repeating: -1, count: input.channels)),
            ],
            "output": ["name": .string(graph[graph.outputs[0]].name), "kind": .string(kind.rawValue)],
            "labels": JSON(labels),
            "layers": .array(graph.layers.map { Self.entry($0, of: graph) }),
            "source": ["file": "made.up", "licence": "Apache-2.0"],
        ]
        tensors = graph.layers.flatMap { layer -> [StoredTensor] in
            guard let convolution = layer.convolution else { return [] }
            return [StoredTensor("\(layer.name)/weight", convolution.weights, as: format)]
                + [convolution.bias].compactMap(\.self).map { StoredTensor("\(layer.name)/bias", $0, as: format) }
        }
    }

    /// The header of the container, with the document inside.
    package var header: JSON {
        var header: JSON = ["__metadata__": ["silhouette": .string(document.text)]]
        var offset = 0
        for tensor in tensors {
            header[tensor.name] = [
                "dtype": .string(tensor.format.rawValue), "shape": JSON(tensor.shape),
                "data_offsets": JSON([offset, offset + tensor.bytes.count]),
            ]
            offset += tensor.bytes.count
        }
        return header
    }

    /// The file.
    package var bytes: [UInt8] { bytes(header: header) }

    /// The file with another header.
    package func bytes(header: JSON) -> [UInt8] { bytes(headerText: header.text) }

    /// The file with any text for a header.
    package func bytes(headerText: String) -> [UInt8] {
        var text = Array(headerText.utf8)
        while text.count % 8 != 0 { text.append(UInt8(ascii: " ")) }
        return withUnsafeBytes(of: UInt64(text.count).littleEndian, Array.init) + text + tensors.flatMap(\.bytes)
    }

    private static func entry(_ layer: Layer, of graph: Graph) -> JSON {
        precondition(layer.residual == nil && layer.pictureBias == nil, "\(layer.name) comes from no file")
        var entry: JSON = [
            "op": .string(layer.operation.name), "name": .string(layer.name),
            "inputs": JSON(layer.inputs.map { graph[$0].name }), "output": .string(graph[layer.output].name),
        ]
        if layer.activation != .none { entry["activation"] = .string(layer.activation.rawValue) }
        func pair(_ extent: Extent) -> JSON { JSON([extent.height, extent.width]) }
        func sides(_ padding: Padding) -> JSON { JSON([padding.top, padding.left, padding.bottom, padding.right]) }
        switch layer.operation {
        case .convolution(let convolution), .depthwiseConvolution(let convolution),
            .transposeConvolution(let convolution):
            entry["weight"] = .string("\(layer.name)/weight")
            if convolution.bias != nil { entry["bias"] = .string("\(layer.name)/bias") }
            if convolution.stride != Extent(1) { entry["stride"] = pair(convolution.stride) }
            if convolution.dilation != Extent(1) { entry["dilation"] = pair(convolution.dilation) }
            if convolution.padding != Padding(0) { entry["padding"] = sides(convolution.padding) }
            if convolution.groups != 1 { entry["groups"] = .number(Double(convolution.groups)) }
        case .averagePool(let pool), .maxPool(let pool):
            entry["kernel"] = pair(pool.kernel)
            entry["stride"] = pair(pool.stride)
            if pool.padding != Padding(0) { entry["padding"] = sides(pool.padding) }
            if pool.countsPadding { entry["countsPadding"] = true }
        case .resizeBilinear(let extent, let convention):
            entry["size"] = pair(extent)
            entry["convention"] = .string(convention.rawValue)
        default: break
        }
        return entry
    }
}
