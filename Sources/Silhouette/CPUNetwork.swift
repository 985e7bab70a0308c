import CPUBackend
import ModelGraph

/// A model made ready for the processor: its trunk as a compiled graph, and the memory for one run's input and scores.
///
/// Used by one thread at a time.
package final class CPUNetwork {
    /// The model.
    package let model: Model
    /// Runs the trunk, and the threads that make masks of its scores.
    package let backend: CPUBackend
    /// The network without its trailing resizes.
    package let trunk: any CompiledGraph
    /// What was cut off, and is done while masks are made.
    package let head: ScoreHead
    /// Size of the whole network's output: that of masks at model size.
    package let outputExtent: Extent
    /// Float32, batch x height x width x channels.
    package let input: FloatBuffer
    /// What the trunk gives for it, in the same layout.
    package let scores: FloatBuffer

    /// Runs the passes, packs the weights and takes the memory.
    ///
    /// - Parameters:
    ///   - threads: Threads that work on one run. Nil: one for each core.
    ///   - batch: Pictures in every run.
    package init(model: Model, threads: Int?, batch: Int = 1) throws {
        self.model = model
        backend = try CPUBackend(threads: threads)
        let (trunk, head) = model.graph.optimized().separatingHead()
        self.head = head
        self.trunk = try backend.compile(trunk, batch: batch)
        outputExtent = model.graph.shape(of: model.graph.outputs[0]).extent
        input = FloatBuffer(count: batch * model.input.shape.elementCount)
        scores = FloatBuffer(count: batch * trunk.shape(of: trunk.outputs[0]).elementCount)
    }

    /// Extent of one picture's scores, before the trailing resizes.
    package var scoreShape: Shape { trunk.graph.shape(of: trunk.graph.outputs[0]) }

    /// The scores of one picture of the batch.
    package func scores(of picture: Int) -> UnsafeBufferPointer<Float> {
        let count = scoreShape.elementCount
        return UnsafeBufferPointer(rebasing: scores.values[picture * count..<(picture + 1) * count])
    }

    /// Computes `scores` from `input`.
    package func run() throws { try trunk.run([input.values], into: [scores.mutableValues]) }

    /// Computes `scores` from `input` and gives the seconds that each of the trunk's layers took.
    package func profile() throws -> [Double] { try trunk.profile([input.values], into: [scores.mutableValues]) }

    /// Makes masks of one size.
    package func sampler(for target: Extent) -> ScoreSampler {
        ScoreSampler(scores: scoreShape, head: head, kind: model.outputKind, target: target, backend: backend)
    }
}

/// Floats at an address that does not change.
package final class FloatBuffer {
    /// The values, to be written.
    package let mutableValues: UnsafeMutableBufferPointer<Float>
    /// The values.
    package var values: UnsafeBufferPointer<Float> { UnsafeBufferPointer(mutableValues) }

    /// Takes memory for `count` values and clears it.
    package init(count: Int) {
        mutableValues = .allocate(capacity: count)
        mutableValues.initialize(repeating: 0)
    }

    deinit { mutableValues.deallocate() }
}
