/// Something that runs graphs: the processor, or a Vulkan device.
///
/// All backends take and give the same bytes in the same layout, so that one table of cases drives them all.
package protocol InferenceBackend: Sendable {
    /// What the work is done on, for people: `cpu (AVX-512, 2 threads)`.
    var deviceName: String { get }

    /// Prepares a graph for repeated runs: packs the weights, plans the memory, allocates everything that a run needs.
    ///
    /// - Parameter batch: Number of pictures in every run.
    func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph
}

/// A graph that is ready to run on one backend.
///
/// It is not reentrant: one run at a time.
package protocol CompiledGraph: AnyObject, Sendable {
    /// The graph as it is run.
    var graph: Graph { get }
    /// Number of pictures in every run.
    var batch: Int { get }
    /// Bytes of the memory that holds the tensors between the layers.
    var arenaByteCount: Int { get }

    /// Runs the network once.
    ///
    /// - Parameters:
    ///   - inputs: One buffer for each of the graph's inputs: float32, batch x height x width x channels.
    ///   - outputs: One buffer for each of the graph's outputs, in the same layout.
    func run(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) throws

    /// Runs the network once and gives how long each layer took, in seconds, in the order of `graph.layers`.
    func profile(_ inputs: [UnsafeBufferPointer<Float>], into outputs: [UnsafeMutableBufferPointer<Float>]) throws
        -> [Double]
}

extension CompiledGraph {
    /// Runs the network once on tensors.
    package func run(_ inputs: [Tensor]) throws -> [Tensor] {
        precondition(inputs.count == graph.inputs.count && inputs.allSatisfy { $0.batch == batch })
        var outputs = graph.outputs.map { Tensor(batch: batch, zeros: graph.shape(of: $0)) }
        let buffers = outputs.map { UnsafeMutableBufferPointer<Float>.allocate(capacity: $0.values.count) }
        defer { buffers.forEach { $0.deallocate() } }
        try withBuffers(inputs[...], []) { try run($0, into: buffers) }
        for index in outputs.indices { outputs[index].values = Array(buffers[index]) }
        return outputs
    }

    private func withBuffers(
        _ rest: ArraySlice<Tensor>, _ done: [UnsafeBufferPointer<Float>],
        _ body: ([UnsafeBufferPointer<Float>]) throws -> Void
    ) throws {
        guard let first = rest.first else { return try body(done) }
        try first.values.withUnsafeBufferPointer { try withBuffers(rest.dropFirst(), done + [$0], body) }
    }
}
