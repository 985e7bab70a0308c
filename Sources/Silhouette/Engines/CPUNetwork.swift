import CPUBackend
import Imaging
import ModelGraph

/// A model made ready: its trunk as a compiled graph, and the host's memory for one run's input and scores.
///
/// The trunk runs on the processor or on any other backend; masks are made of its scores on the processor.
///
/// Used by one thread at a time.
package final class CPUNetwork {
    /// The model.
    package let model: Model
    /// The threads that make masks of the scores, and that run the trunk where no other backend does.
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
    ///   - device: Runs the trunk. Nil: the processor.
    package init(
        model: Model, threads: Int?, batch: Int = 1, on device: (any InferenceBackend)? = nil
    ) throws {
        self.model = model
        backend = try CPUBackend(threads: threads)
        let (trunk, head) = model.graph.optimized().separatingHead()
        self.head = head
        self.trunk = try (device ?? backend).compile(trunk, batch: batch)
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

    /// Makes masks of the size of the network's output.
    package func sampler() -> ScoreSampler { samplers.sampler() }

    /// Makes samplers on the same threads.
    package var samplers: ScoreSamplers {
        ScoreSamplers(
            shape: scoreShape, head: head, kind: model.outputKind, outputExtent: outputExtent, backend: backend)
    }
}

/// Makes samplers of a network's scores.
package struct ScoreSamplers: Sendable {
    fileprivate let shape: Shape
    fileprivate let head: ScoreHead
    fileprivate let kind: OutputKind
    fileprivate let outputExtent: Extent
    fileprivate var backend: CPUBackend

    /// Size of the scores, before the trailing resizes.
    var scoreSize: PixelSize { PixelSize(width: shape.width, height: shape.height) }

    /// The same on no thread but the caller's.
    func alone() throws(CPUBackendError) -> ScoreSamplers {
        var samplers = self
        samplers.backend = try CPUBackend(threads: 1, instructionSet: backend.instructionSet)
        return samplers
    }

    /// Makes masks of the size of the network's output.
    func sampler() -> ScoreSampler {
        ScoreSampler(scores: shape, head: head, kind: kind, target: outputExtent, backend: backend)
    }

    /// Makes masks of the size of pictures that were brought to the network's input in one way.
    func sampler(for geometry: FitGeometry) -> ScoreSampler {
        let (picture, input) = (geometry.picture, geometry.network)
        let (seen, shown) = (geometry.source, geometry.target)
        let target = Extent(height: picture.height, width: picture.width)
        let region = ScoreRegion(
            seen: (seen.rows, seen.columns), of: target, shown: (shown.rows, shown.columns),
            of: Extent(height: input.height, width: input.width), output: outputExtent)
        return ScoreSampler(scores: shape, head: head, kind: kind, target: target, region: region, backend: backend)
    }
}
