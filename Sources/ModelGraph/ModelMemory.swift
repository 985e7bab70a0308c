import Glibc

/// The most memory that a network takes to be run on the processor, computed from its plan before a weight is read.
///
/// A device keeps less of it here and the rest in its own memory. What pictures take is not in it.
package struct ModelMemory: Hashable, Sendable {
    /// Bytes of the file, which is mapped.
    package let fileByteCount: Int
    /// Bytes of all weights as they are packed, and of the largest while it is.
    package let weightByteCount: Int
    /// Bytes between the layers, and of what the threads gather for one.
    package let arenaByteCount: Int
    /// Bytes of what samples masks from the scores, for the sizes of pictures that came last.
    package let samplingByteCount: Int
    /// Bytes of one picture's input and scores.
    package let pictureByteCount: Int

    /// Bytes of all, for runs of so many pictures, which go through the same arena one after another.
    package func byteCount(batch: Int = 1) -> Int {
        fileByteCount + weightByteCount + arenaByteCount + samplingByteCount + batch * pictureByteCount
    }

    /// Floats of the widest registers: channels are padded to so many.
    package static let mostLanes = 16
    /// Pixels whose sources a thread gathers at a time.
    package static let tilePixels = 48
    /// More than there is; sums of it do not overflow.
    private static let endless = 1 << 44

    /// - Parameters:
    ///   - graph: As a file has it, of one output.
    ///   - threadCount: Threads of the network. Nil: one for each core.
    ///   - isWhole: Whether the resizes at its end are done as layers, too.
    package init(_ graph: Graph, fileByteCount: Int, threadCount: Int? = nil, isWhole: Bool = false) {
        // What the passes do afterwards takes layers and memory away, and would read weights.
        let graph = graph.rearranged()
        let (trunk, head) = isWhole ? (graph, ScoreHead()) : graph.separatingHead()
        self.fileByteCount = fileByteCount
        var (packed, largest, gathered) = (0, 0, 0)
        for layer in trunk.layers {
            packed += min(Self.endless, trunk.packedByteCount(of: layer, lanes: Self.mostLanes))
            largest = max(largest, 4 * (layer.convolution?.weights.count ?? 0))
            gathered = max(gathered, min(Self.endless, trunk.gatheredByteCount(of: layer, lanes: Self.mostLanes)))
        }
        weightByteCount = packed + largest
        arenaByteCount =
            MemoryPlan(trunk.memoryRequests(lanes: Self.mostLanes)).byteCount
            + gathered * (threadCount ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let scores = trunk.shape(of: trunk.outputs[0])
        // The one that is made, while those from before are there.
        let sampler = Self.samplerByteCount(scores, head)
        samplingByteCount = sampler + max(sampler, min(Self.keptSamplers * sampler, Self.keptSamplerByteCount))
        // Bytes, and floats made of them.
        pictureByteCount =
            trunk.inputs.map { 5 * trunk.shape(of: $0).elementCount }.reduce(0, +) + 4 * scores.elementCount
    }

    /// Samplers that are kept for pictures of other sizes, and their bytes, where there is more than one.
    package static let keptSamplers = 4
    package static let keptSamplerByteCount = 32 << 20

    /// Bytes of what samples masks: the scores, each pixel's padded, and once more in the model's size where they become
    /// probabilities there.
    package static func samplerByteCount(_ scores: Shape, _ head: ScoreHead) -> Int {
        let padded = (max(2, scores.channels) + mostLanes - 1) / mostLanes * mostLanes
        let byteCount = 4 * scores.pixelCount * padded
        guard head.activation != .none, let extent = head.resizes.last?.extent else { return byteCount }
        return byteCount + 4 * extent.height * extent.width * (padded + scores.channels)
    }
}

extension Graph {
    /// Bytes of a layer's packed weights. Channels are padded to whole registers, and groups with zeros, so a small file may ask
    /// for much memory.
    package func packedByteCount(of layer: Layer, lanes: Int) -> Int {
        guard let convolution = layer.convolution else { return 0 }
        let output = padded(layer.output, lanes)
        // 2^24 taps at most, 2^16 channels, and not many more columns than that.
        let taps = convolution.kernel.height * convolution.kernel.width
        if case .depthwiseConvolution = layer.operation { return 4 * (taps + 1) * output }
        return 4 * (taps * padded(layer.inputs[0], lanes) + 1) * output
    }

    /// Bytes in which each thread gathers a tile's source.
    fileprivate func gatheredByteCount(of layer: Layer, lanes: Int) -> Int {
        guard let convolution = layer.convolution else { return 0 }
        let input = padded(layer.inputs[0], lanes)
        switch layer.operation {
        case .transposeConvolution:
            let taps = convolution.kernel.height * convolution.kernel.width
            return 4 * ModelMemory.tilePixels * (taps * input + padded(layer.output, lanes) + 1)
        case .convolution where !convolution.isPointwise || convolution.stride != Extent(1):
            return 4 * ModelMemory.tilePixels * (max(512, input) + 1)
        default: return 0
        }
    }

    private func padded(_ tensor: TensorID, _ lanes: Int) -> Int {
        (shape(of: tensor).channels + lanes - 1) / lanes * lanes
    }

    /// A request for each tensor, its channels padded.
    fileprivate func memoryRequests(lanes: Int) -> [MemoryRequest] {
        zip(tensors.indices, memoryRequests()).map { index, request in
            var request = request
            let shape = tensors[index].shape
            request.byteCount = 4 * shape.pixelCount * ((shape.channels + lanes - 1) / lanes * lanes)
            return request
        }
    }
}
