import ModelGraph

/// Finds out whether a device computes what another does: layer by layer, then the whole network.
///
/// Every layer runs alone, on the reference's values. Errors do not add up, and the first layer that fails is at fault.
package struct Verifier {
    package let graph: Graph
    package let outputKind: OutputKind
    /// What is trusted, and what is looked at.
    package let reference, candidate: any InferenceBackend
    /// How the candidate stores weights and activations. With `.float16` the reference of a layer starts from weights and inputs
    /// rounded in the same way.
    package let storage: Weights.Format

    /// Bound on |x - reference| / max(1, |reference|) for a layer alone.
    package var layerTolerance: Double { storage == .float32 ? 1e-4 : 2e-3 }

    /// Prepares a verification of a graph with one output.
    package init(
        _ graph: Graph, _ outputKind: OutputKind, reference: any InferenceBackend, candidate: any InferenceBackend,
        storage: Weights.Format
    ) {
        precondition(graph.outputs.count == 1 && graph.inputs.count == 1, "one picture in, one map of scores out")
        self.graph = graph
        self.outputKind = outputKind
        self.reference = reference
        self.candidate = candidate
        self.storage = storage
    }

    /// Runs every layer on both devices.
    ///
    /// - Parameters:
    ///   - input: One picture, as the network sees it.
    ///   - report: Called after each layer.
    /// - Returns: The reference's scores, every value on the way to them stored in `storage`.
    @discardableResult
    package func verifyLayers(on input: Tensor, report: (LayerVerdict) throws -> Void) throws -> Tensor {
        let lastReads = graph.lifetimes.map(\.upperBound)
        var values: [TensorID: Tensor] = [graph.inputs[0]: stored(input)]
        var scores = input
        for (index, layer) in graph.layers.enumerated() {
            let alone = graph.isolatingLayer(at: index)
            let network = alone.graph.storingWeights(as: storage)
            // Layers stand in order, and what a later one reads is kept.
            let inputs = alone.sources.map { values[$0]! }
            let expected = try reference.compile(network, batch: 1).run(inputs)[0]
            let found = try candidate.compile(network, batch: 1).run(inputs)[0]
            try report(
                LayerVerdict(
                    index: index, members: layer.members, operation: layer.operation.nameWithKernel,
                    shape: expected.shape, deviation: Deviation(of: found, from: expected), tolerance: layerTolerance))
            values[layer.output] = stored(expected)
            if layer.output == graph.outputs[0] { scores = stored(expected) }
            // Large networks have more between their layers than need be in memory at once.
            values = values.filter { lastReads[$0.key.index] > index }
        }
        return scores
    }

    /// Runs the whole network on both devices, twice on the candidate.
    ///
    /// float32 may be off by 2e-3. How much a network makes of the rounding of float16 depends on its weights, so the bound is
    /// twice what the reference itself is off when it rounds in the same way, and at least 2e-3.
    ///
    /// A probability is never off by more than 1, and on a steep edge rounding alone moves one by 0.1: there, twice that would
    /// let anything pass. So none may be off by more than a quarter, all together by no more than a two-hundredth in the
    /// mean, and no pixel may change its class whose class the reference holds for likelier than the next by a fifth.
    ///
    /// - Parameters:
    ///   - input: The picture that `verifyLayers` was given.
    ///   - rounded: What that returned.
    package func verifyNetwork(on input: Tensor, rounded: Tensor) throws -> NetworkVerdict {
        let expected = try reference.compile(graph, batch: 1).run([input])[0]
        let compiled = try candidate.compile(graph, batch: 1)
        let found = try compiled.run([input])[0]
        let again = try compiled.run([input])[0]
        var tolerance =
            storage == .float32 ? 2e-3 : max(2e-3, 2 * Deviation(of: rounded, from: expected).error)
        var margin = 5 * tolerance
        var meanTolerance: Double?
        if outputKind == .probabilities {
            tolerance = min(tolerance, 0.25)
            meanTolerance = 0.005
            // Of one channel the lead is over a half, and the subject's over the background's twice that.
            margin = min(margin, expected.shape.channels == 1 ? 0.1 : 0.2)
        }
        let labels = LabelComparison(found, expected, outputKind, margin: margin)
        return NetworkVerdict(
            deviation: Deviation(of: found, from: expected), tolerance: tolerance, meanTolerance: meanTolerance,
            pixelCount: expected.shape.pixelCount, agreeingPixelCount: labels.agreeingPixelCount,
            clearlyDifferentPixelCount: labels.clearlyDifferentPixelCount, margin: margin,
            repeats: zip(found.values, again.values).allSatisfy { $0.bitPattern == $1.bitPattern })
    }

    private func stored(_ tensor: Tensor) -> Tensor {
        storage == .float32
            ? tensor
            : Tensor(shape: tensor.shape, values: tensor.values.map { float(fromHalf: halfBits(of: $0)) })
    }
}
