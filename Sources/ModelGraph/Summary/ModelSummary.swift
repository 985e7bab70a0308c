/// What there is to know about a model before it runs: what `silhouette model FILE` prints.
package struct ModelSummary: Sendable, CustomStringConvertible {
    /// What the passes change.
    package struct Cost: Hashable, Sendable {
        package var layerCount: Int
        /// Multiply-accumulate operations for one picture.
        package var macCount: Int
        package var parameterCount: Int
        /// Bytes of the arena for one picture in float32, as the memory planner places the tensors.
        package var arenaByteCount: Int
        /// Bytes of all tensors, each with memory of its own.
        package var tensorByteCount: Int

        init(_ graph: Graph) {
            layerCount = graph.layers.count
            macCount = graph.macCount
            parameterCount = graph.parameterCount
            let requests = graph.memoryRequests()
            arenaByteCount = MemoryPlan(requests).byteCount
            tensorByteCount = requests.map(\.byteCount).reduce(0, +)
        }
    }

    package let model: Model
    /// Its graph after all passes.
    package let optimized: Graph
    /// The trailing resizes, which need no full-size tensor of scores.
    package let head: ScoreHead
    /// The graph as the file has it.
    package let fileCost: Cost
    /// The graph after all passes.
    package let optimizedCost: Cost
    /// The graph after all passes, without its head.
    package let trunkCost: Cost

    /// Runs the passes and the planner on the model's graph.
    package init(_ model: Model) {
        self.model = model
        optimized = model.graph.optimized()
        let (trunk, head) = optimized.separatingHead()
        self.head = head
        fileCost = Cost(model.graph)
        optimizedCost = Cost(optimized)
        trunkCost = Cost(trunk)
    }

    /// The facts, the costs and the operators, in lines of text.
    package var description: String { description(file: []) }

    /// The same, with lines on the file that it comes from.
    package func description(file: [String]) -> String {
        ([model.name, ""] + facts(file) + [""] + costs() + [""] + operators()).joined(separator: "\n")
    }

    private func facts(_ file: [String]) -> [String] {
        var table = AlignedText([.left, .left])
        for (index, line) in file.enumerated() { table.append(index == 0 ? "file" : "", line) }
        let source = model.source
        let origin = [source.file, source.licence].compactMap(\.self).joined(separator: ", ")
        let lines = [origin, source.upstream ?? "", source.sha256.map { "SHA-256 \($0)" } ?? ""].filter { !$0.isEmpty }
        for (index, line) in lines.enumerated() { table.append(index == 0 ? "source" : "", line) }
        let input = model.input
        table.append("input", "\(input.width) x \(input.height) \(input.order.rawValue), \(normalization)")
        let output = model.graph.shape(of: model.graph.outputs[0])
        table.append(
            "output",
            "\(output.width) x \(output.height), \(output.channels) \(output.channels == 1 ? "channel" : "channels")"
                + " of \(model.outputKind.rawValue)")
        for (index, line) in wrapped(model.labels, width: 90).enumerated() {
            table.append(index == 0 ? "labels" : "", line)
        }
        table.append("parameters", "\(grouped(fileCost.parameterCount)), stored as \(storedTypes)")
        return table.lines.map { "  " + $0 }
    }

    /// The formula that makes bytes the network's input.
    private var normalization: String {
        let input = model.input
        func same(_ values: [Float]) -> Bool { values.allSatisfy { $0 == values[0] } }
        func list(_ values: [Float]) -> String {
            same(values) ? "\(values[0])" : "[\(values.map { "\($0)" }.joined(separator: ", "))]"
        }
        if same(input.bias), let bias = input.bias.first {
            if bias == 0 { return "byte * \(list(input.scale))" }
            return "byte * \(list(input.scale)) \(bias < 0 ? "-" : "+") \(bias.magnitude)"
        }
        return "byte * \(list(input.scale)) + \(list(input.bias))"
    }

    private var storedTypes: String {
        let formats = Set(model.graph.layers.compactMap(\.convolution?.weights.format))
        return formats.isEmpty
            ? "nothing" : formats.map { $0 == .float32 ? "float32" : "float16" }.sorted().joined(separator: " and ")
    }

    private func costs() -> [String] {
        var table = AlignedText([.left, .right, .right, .right])
        let costs = [fileCost, optimizedCost, trunkCost]
        table.append("", "as in the file", "after passes", "without its head")
        func add(_ title: String, _ value: (Cost) -> String) {
            table.append(title, value(costs[0]), value(costs[1]), value(costs[2]))
        }
        add("layers") { "\($0.layerCount)" }
        add("multiply-adds") { operationText($0.macCount) }
        add("arena, float32") { byteText($0.arenaByteCount) }
        add("tensors unshared") { byteText($0.tensorByteCount) }
        return table.lines.map { "  " + $0 }
    }

    private func operators() -> [String] {
        var table = AlignedText([.left, .right, .right, .right, .right, .right])
        table.append("operator", "layers", "multiply-adds", "", "after passes", "multiply-adds")
        let before = Self.kinds(model.graph)
        let after = Self.kinds(optimized)
        let names = Set(before.keys).union(after.keys).sorted {
            let (first, second) = (before[$0]?.macCount ?? 0, before[$1]?.macCount ?? 0)
            return first == second ? $0 < $1 : first > second
        }
        func work(_ macCount: Int) -> String { macCount == 0 ? "" : operationText(macCount) }
        for name in names {
            let (first, second) = (before[name] ?? Kind(), after[name] ?? Kind())
            let share = first.macCount == 0 ? "" : "\(decimal(100 * first.macCount, over: fileCost.macCount)) %"
            table.append(
                name, first.count == 0 ? "" : "\(first.count)", work(first.macCount), share,
                second.count == 0 ? "" : "\(second.count)", work(second.macCount))
        }
        return table.lines.map { "  " + $0 }
    }

    private struct Kind {
        var count = 0
        var macCount = 0
    }

    private static func kinds(_ graph: Graph) -> [String: Kind] {
        var kinds: [String: Kind] = [:]
        for layer in graph.layers {
            kinds[layer.operation.nameWithKernel, default: Kind()].count += 1
            kinds[layer.operation.nameWithKernel, default: Kind()].macCount += graph.macCount(of: layer)
        }
        return kinds
    }
}

/// Words with commas between them, broken into lines of about `width` characters.
private func wrapped(_ words: [String], width: Int) -> [String] {
    var lines = [""]
    for (index, word) in words.enumerated() {
        let word = index == words.count - 1 ? word : word + ","
        if !lines[lines.count - 1].isEmpty, lines[lines.count - 1].count + 1 + word.count > width { lines.append("") }
        lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
    }
    return lines
}
