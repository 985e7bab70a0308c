/// What a network does to its scores at the very end: the layers that `Graph.separatingHead()` cuts off.
///
/// Scores are computed on a small map, DeepLabV3's on 33x33, and enlarged. Who wants only the best class of each pixel,
/// or the scores at a picture's own size, computes both from the small map without a full-size tensor of scores.
package struct ScoreHead: Sendable {
    package struct Resize: Hashable, Sendable {
        package var extent: Extent
        /// Where its pixels lie in the input.
        package var convention: ResizeConvention

        package init(extent: Extent, convention: ResizeConvention) {
            self.extent = extent
            self.convention = convention
        }
    }

    /// The resizes, first to last; empty where the trunk's output has the model's size already.
    package var resizes: [Resize]
    /// Applied after the last resize.
    package var activation: HeadActivation
    /// Names of the layers of the model file that are done by the head.
    package var members: [String]

    package init(resizes: [Resize] = [], activation: HeadActivation = .none, members: [String] = []) {
        self.resizes = resizes
        self.activation = activation
        self.members = members
    }
}

/// A function of the enlarged scores of one pixel.
package enum HeadActivation: String, Hashable, Sendable {
    /// The scores as they are.
    case none
    /// exp(x - max) / sum over the channels.
    case softmax
    /// 1 / (1 + exp(-x)) of each channel.
    case sigmoid
}

extension Graph {
    /// The network without its trailing resizes, and those.
    ///
    /// A soft-max or sigmoid after the resizes goes with them. One before them stays in the trunk, for it does not
    /// commute with a resize; so does one where there is no resize, and whatever has other readers than the output.
    /// Expects a graph of one output; the trunk's output is what the head reads.
    package func separatingHead() -> (trunk: Graph, head: ScoreHead) {
        precondition(outputs.count == 1, "a graph of \(outputs.count) outputs has no single head")
        let writers = self.writers
        let useCounts = self.useCounts
        var head = ScoreHead()
        var position = outputs[0]

        /// The layer that writes the current tensor, if it alone is what the head could take.
        func last() -> Layer? {
            guard useCounts[position.index] == 1, let writer = writers[position.index] else { return nil }
            let layer = layers[writer]
            // The trunk must still compute something: its output is never its input.
            let canCut = layer.residual == nil && layer.pictureBias == nil && writers[layer.inputs[0].index] != nil
            return canCut ? layer : nil
        }

        if let layer = last() {
            switch (layer.operation, layer.activation) {
            case (.softmax, .none): head.activation = .softmax
            case (.activation, .sigmoid): head.activation = .sigmoid
            default: break
            }
            if head.activation != .none {
                head.members = layer.members
                position = layer.inputs[0]
            }
        }
        while let layer = last(), case .resizeBilinear(let extent, let convention) = layer.operation, layer.isBare {
            head.resizes.insert(ScoreHead.Resize(extent: extent, convention: convention), at: 0)
            head.members = layer.members + head.members
            position = layer.inputs[0]
        }
        guard !head.resizes.isEmpty else { return (self, ScoreHead()) }
        var trunk = self
        trunk.outputs = [position]
        return (trunk.removingDeadLayers(), head)
    }
}
