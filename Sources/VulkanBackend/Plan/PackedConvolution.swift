import ModelGraph
import VulkanCompute

/// The weights of a convolution in the order of Shaders/include/weights.glsl.
///
/// For each group of output blocks: its bias, then for each tap and each input channel the outputs' weights. Padded outputs have
/// zeros. Where the weights go into uniform blocks, a group never straddles two of them.
struct PackedConvolution: Sendable {
    /// The values, as float32, in vec4.
    let values: [Float]
    /// Groups of output blocks.
    let groupCount: Int
    /// Groups in each uniform block, or all of them.
    let groupsPerSlice: Int
    /// Uniform blocks; 1 where the weights do not go into uniform blocks.
    let sliceCount: Int

    /// Floats of one group.
    private static func groupLength(_ rows: Int, _ blocks: Int) -> Int { (rows + 1) * blocks * 4 }

    /// Whether a convolution's weights fit into the uniform blocks of a shader.
    static func fitsUniformBlocks(rows: Int, outputs: Int, blocks: Int) -> Bool {
        let perSlice = WeightBlocks.byteCount / 4 / groupLength(rows, blocks)
        guard perSlice > 0 else { return false }
        let groups = ((outputs + 3) / 4 + blocks - 1) / blocks
        return (groups + perSlice - 1) / perSlice <= WeightBlocks.count
    }

    /// - Parameters:
    ///   - rows: Taps times input channels that an output is summed over.
    ///   - blocks: Output blocks in a group.
    ///   - at: The weight of an output for a row.
    init(
        outputs: Int, rows: Int, blocks: Int, inUniformBlocks: Bool, bias: [Float]?,
        at: (_ output: Int, _ row: Int) -> Float
    ) {
        let groups = ((outputs + 3) / 4 + blocks - 1) / blocks
        let length = Self.groupLength(rows, blocks)
        let sliceLength = WeightBlocks.byteCount / 4
        let perSlice = inUniformBlocks ? sliceLength / length : groups
        let slices = (groups + perSlice - 1) / perSlice
        var values = [Float](repeating: 0, count: inUniformBlocks ? slices * sliceLength : groups * length)
        for group in 0..<groups {
            var place = inUniformBlocks ? group / perSlice * sliceLength + group % perSlice * length : group * length
            let outputsOfGroup = group * blocks * 4..<min((group + 1) * blocks * 4, outputs)
            for output in outputsOfGroup { values[place + output - outputsOfGroup.lowerBound] = bias?[output] ?? 0 }
            for row in 0..<rows {
                place += blocks * 4
                for output in outputsOfGroup { values[place + output - outputsOfGroup.lowerBound] = at(output, row) }
            }
        }
        self.values = values
        groupCount = groups
        groupsPerSlice = perSlice
        sliceCount = slices
    }
}

extension Graph {
    /// Checks what becomes of grouped convolutions: with their zeros, a small file may ask for any amount of memory.
    ///
    /// - Throws: `VulkanError` where they would be too large.
    func checkGroupedConvolutions() throws(VulkanError) {
        var byteCount = 0
        for layer in layers {
            guard case .convolution(let convolution) = layer.operation, convolution.groups > 1 else { continue }
            let taps = convolution.kernel.height * convolution.kernel.width
            byteCount += taps * shape(of: layer.inputs[0]).channels * convolution.weights.shape[0] * 4
            guard byteCount <= ModelLimits.groupedByteCount else {
                throw VulkanError(
                    "vkAllocateMemory",
                    .unsupported(
                        "\(layer.name) is too large for a device: in \(convolution.groups) groups, stored as one"))
            }
        }
    }
}

extension Convolution {
    /// Packs a dense, grouped or transposed convolution; rows are taps, and in each tap the input channels. Groups become
    /// zeros in a dense one.
    func packed(inputChannels: Int, blocks: Int, inUniformBlocks: Bool) -> PackedConvolution {
        let taps = kernel.height * kernel.width
        let outputs = weights.shape[0]
        let groupInputs = weights.shape[1]
        let groupOutputs = outputs / groups
        let values = weights.floats()
        return PackedConvolution(
            outputs: outputs, rows: taps * inputChannels, blocks: blocks, inUniformBlocks: inUniformBlocks,
            bias: bias?.floats()
        ) { output, row in
            let (tap, channel) = row.quotientAndRemainder(dividingBy: inputChannels)
            guard output / groupOutputs == channel / groupInputs else { return 0 }
            return values[(output * groupInputs + channel % groupInputs) * taps + tap]
        }
    }

    /// Packs a depthwise convolution: one block a group, rows are taps.
    func packedDepthwise(inUniformBlocks: Bool) -> PackedConvolution {
        let taps = kernel.height * kernel.width
        let values = weights.floats()
        return PackedConvolution(
            outputs: weights.shape[0], rows: taps, blocks: 1, inUniformBlocks: inUniformBlocks, bias: bias?.floats()
        ) { output, row in values[output * taps + row] }
    }
}
