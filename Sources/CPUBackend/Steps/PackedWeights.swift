import ModelGraph

/// The weights of a matrix product, in the order in which the register tiles read them.
///
/// The outputs are cut into panels of 2 blocks (the last one of 1 or 3), and a panel holds
/// `[tap][input channel][block of the panel][lane]`. What a panel reads lies in one run, so that it streams.
struct PackedWeights: Sendable {
    /// A run of output blocks that one call of the product kernel computes.
    struct Panel: Sendable {
        /// First block of outputs.
        let block: Int
        /// Blocks in the panel: 1, 2 or 3.
        let vectors: Int
        /// Where the panel's weights begin, in floats.
        let offset: Int
    }

    let panels: [Panel]
    /// Input channels of a tap as they are packed: padded to whole blocks where several taps follow one another.
    let channelsPerTap: Int
    let values: FloatBuffer
    /// One value for each output, padded to whole blocks.
    let bias: FloatBuffer

    /// Packs weights that `at(output, tap, channel)` gives.
    init(
        outputs: Int, taps: Int, channels: Int, channelsPerTap: Int, bias: [Float]?, lanes: Int,
        at: (_ output: Int, _ tap: Int, _ channel: Int) -> Float
    ) {
        let blocks = (outputs + lanes - 1) / lanes
        let rows = taps * channelsPerTap
        var panels: [Panel] = []
        var block = 0
        while block < blocks {
            let left = blocks - block
            let vectors = left == 3 || left == 1 ? left : 2
            panels.append(Panel(block: block, vectors: vectors, offset: block * lanes * rows))
            block += vectors
        }
        self.panels = panels
        self.channelsPerTap = channelsPerTap
        values = FloatBuffer(count: blocks * lanes * rows)
        for panel in panels {
            let width = panel.vectors * lanes
            let base = values.pointer + panel.offset
            for tap in 0..<taps {
                for channel in 0..<channels {
                    let row = base + (tap * channelsPerTap + channel) * width
                    for lane in 0..<min(width, outputs - panel.block * lanes) {
                        row[lane] = at(panel.block * lanes + lane, tap, channel)
                    }
                }
            }
        }
        self.bias = FloatBuffer(count: blocks * lanes)
        for (output, value) in (bias ?? []).enumerated() { self.bias.pointer[output] = value }
    }

    /// Packs a dense or grouped convolution. Groups become zeros in a dense one: no network of this family has any that
    /// are not depthwise, so they need to be right, not fast.
    init(_ convolution: Convolution, inputChannels: Int, channelsPerTap: Int, lanes: Int) {
        let weights = convolution.weights.floats()
        let taps = convolution.kernel.height * convolution.kernel.width
        let outputs = convolution.weights.shape[0]
        let groupInputs = convolution.weights.shape[1]
        let groupOutputs = outputs / convolution.groups
        self.init(
            outputs: outputs, taps: taps, channels: inputChannels, channelsPerTap: channelsPerTap,
            bias: convolution.bias?.floats(), lanes: lanes
        ) { output, tap, channel in
            guard output / groupOutputs == channel / groupInputs else { return 0 }
            return weights[(output * groupInputs + channel % groupInputs) * taps + tap]
        }
    }
}
