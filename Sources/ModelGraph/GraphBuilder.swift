import JSONText

/// Makes a graph of the layers of a model file, one by one.
struct GraphBuilder {
    private let file: SafetensorsFile
    private var graph: Graph
    /// Tensors written so far.
    private var tensors: [String: TensorID] = [:]
    private var layerNames: Set<String> = []
    /// Each array that layers read, and the first layer that does.
    private var arrays: [(name: String, weights: Weights, key: String, fields: Fields)] = []
    private var arrayNames: Set<String> = []
    private var workCount = 0

    init(name: String, file: SafetensorsFile) {
        self.file = file
        graph = Graph(name: name)
    }

    mutating func addInput(_ fields: Fields, shape: Shape) throws(ModelFault) {
        let name = try fields.string("name")
        tensors[name] = graph.addInput(name, shape)
    }

    mutating func append(_ value: JSON, index: Int) throws(ModelFault) {
        guard index < ModelLimits.layers else {
            throw ModelFault("document: has more than \(ModelLimits.layers) layers")
        }
        let name = try Fields(value, "layer \(index)").string("name")
        let fields = try Fields(value, "layer \(printable(name))")
        guard layerNames.insert(name).inserted else { throw fields.fault("is the second layer of this name") }

        var inputs: [TensorID] = []
        for input in try fields.strings("inputs") {
            guard let id = tensors[input] else {
                throw fields.fault("reads the tensor \(printable(input)), which nothing before it writes")
            }
            inputs.append(id)
        }
        let output = try fields.string("output")
        guard tensors[output] == nil else {
            throw fields.fault("writes the tensor \(printable(output)), which exists already")
        }
        let operation = try operation(fields)
        let activation: Activation = try fields.choice("activation", absent: Activation.none)
        do throws(GraphError) {
            tensors[output] = try graph.append(name, operation, inputs, activation: activation, output: output)
        } catch {
            throw fields.fault(error.reason)
        }
        // No product is above 2^57, so the sum cannot overflow before it is past the limit.
        workCount += graph.macCount(of: graph.layers[index]) + graph.poolingCost(of: graph.layers[index])
        guard workCount <= ModelLimits.work else {
            throw fields.fault(
                "brings the work for one picture to \(workCount) multiply-adds, limit \(ModelLimits.work)")
        }
    }

    /// The graph, once all layers are there.
    mutating func finish(_ outputFields: Fields) throws(ModelFault) -> Graph {
        let name = try outputFields.string("name")
        guard let output = tensors[name], let producer = graph.layers.last(where: { $0.output == output }) else {
            throw outputFields.fault("no layer writes the tensor \(printable(name))")
        }
        if case .argMax = producer.operation {
            throw outputFields.fault("is an arg-max, expected the scores before it")
        }
        graph.outputs = [output]
        let live = MemoryPlan.peakByteCount(graph.memoryRequests())
        guard live <= ModelLimits.liveByteCount else {
            throw ModelFault("would need \(live) bytes between its layers, limit \(ModelLimits.liveByteCount)")
        }
        return graph
    }

    private mutating func operation(_ fields: Fields) throws(ModelFault) -> Operation {
        let name = try fields.string("op")
        guard let keys = Self.keys[name] else { throw unknown(name, fields) }
        try fields.allow(only: keys.union(["op", "name", "inputs", "output"]))
        switch name {
        case "conv2d": return .convolution(try convolution(fields))
        case "depthwiseConv2d": return .depthwiseConvolution(try convolution(fields))
        case "transposeConv2d": return .transposeConvolution(try convolution(fields))
        case "add": return .add
        case "mul": return .multiply
        case "concat": return .concatenate
        case "globalAveragePool": return .globalAveragePool
        case "averagePool": return .averagePool(try pool(fields))
        case "maxPool": return .maxPool(try pool(fields))
        case "resizeBilinear":
            let size = try fields.integers("size")
            guard size.count == 2 else { throw fields.fault("size: expected [height, width]") }
            return .resizeBilinear(Extent(height: size[0], width: size[1]), try fields.choice("convention"))
        case "softmax": return .softmax
        case "argMax": return .argMax
        case "activation": return .activation
        default: throw unknown(name, fields)
        }
    }

    private func unknown(_ name: String, _ fields: Fields) -> ModelFault {
        let known = Self.keys.keys.sorted().joined(separator: ", ")
        return fields.fault("has the operator \(printable(name)), expected one of \(known)")
    }

    /// The operators and the keys that mean something to each.
    private static let keys: [String: Set<String>] = [
        "conv2d": ["weight", "bias", "stride", "dilation", "padding", "groups", "activation"],
        "depthwiseConv2d": ["weight", "bias", "stride", "dilation", "padding", "activation"],
        "transposeConv2d": ["weight", "bias", "stride", "padding", "activation"],
        "add": ["activation"],
        "mul": ["activation"],
        "concat": [],
        "globalAveragePool": [],
        "averagePool": ["kernel", "stride", "padding", "countsPadding"],
        "maxPool": ["kernel", "stride", "padding"],
        "resizeBilinear": ["size", "convention"],
        "softmax": [],
        "argMax": [],
        "activation": ["activation"],
    ]

    private mutating func convolution(_ fields: Fields) throws(ModelFault) -> Convolution {
        let weights = try array("weight", fields)
        guard weights.shape.count == 4 else {
            throw fields.fault("weight: has the shape \(weights.shape), expected four dimensions")
        }
        return Convolution(
            weights: weights, bias: fields.has("bias") ? try array("bias", fields) : nil,
            stride: try extent("stride", fields), dilation: try extent("dilation", fields),
            padding: try padding(fields), groups: try fields.integer("groups", absent: 1))
    }

    private func pool(_ fields: Fields) throws(ModelFault) -> Pool {
        guard fields.has("kernel") else { throw fields.fault("has no kernel") }
        return Pool(
            kernel: try extent("kernel", fields), stride: try extent("stride", fields), padding: try padding(fields),
            countsPadding: try fields.flag("countsPadding"))
    }

    private func extent(_ key: String, _ fields: Fields) throws(ModelFault) -> Extent {
        let pair = try fields.integers(key, absent: [1, 1])
        return Extent(height: pair[0], width: pair[1])
    }

    private func padding(_ fields: Fields) throws(ModelFault) -> Padding {
        let sides = try fields.integers("padding", absent: [0, 0, 0, 0])
        return Padding(top: sides[0], left: sides[1], bottom: sides[2], right: sides[3])
    }

    private mutating func array(_ key: String, _ fields: Fields) throws(ModelFault) -> Weights {
        let name = try fields.string(key)
        guard let weights = file[name] else {
            throw fields.fault("\(key): the file has no tensor \(printable(name))")
        }
        if arrayNames.insert(name).inserted { arrays.append((name, weights, key, fields)) }
        return weights
    }

    /// Damage to the values shows in one thing only: numbers that no training gives.
    func checkValues() throws(ModelFault) {
        for (name, weights, key, fields) in arrays {
            guard let index = weights.firstNonFiniteIndex() else { continue }
            throw fields.fault("\(key): value \(index) of the tensor \(printable(name)) is not a finite number")
        }
    }
}
