/// A trained network and what one must know to use it: one model file.
///
/// The weights stay in the file, which is mapped into memory for as long as the model or a graph made of it is in use.
package struct Model: Sendable {
    package let name: String
    /// The layers, as the file lists them.
    package let graph: Graph
    /// How a picture becomes the graph's input.
    package let input: ModelInput
    /// What the values of the output mean.
    package let outputKind: OutputKind
    /// The classes' names: one for each channel of the output, or [background, subject] for a single channel.
    package let labels: [String]
    /// A colour for each label, where the file names any.
    package let palette: [PaletteColor]?
    /// Where the network came from.
    package let source: ModelSource
    /// What it takes to be run.
    package let memory: ModelMemory
    /// Bytes that it may take; all its copies together, where there are several.
    package let memoryLimit: Int

    /// A model with other layers between an input and an output of the same shapes.
    package func replacingGraph(_ graph: Graph) -> Model {
        Model(
            name: name, graph: graph, input: input, outputKind: outputKind, labels: labels, palette: palette,
            source: source, memory: memory, memoryLimit: memoryLimit)
    }
}

/// How an 8-bit picture becomes a network's input: `byte * scale[c] + bias[c]` for each channel c.
package struct ModelInput: Hashable, Sendable {
    package var width: Int
    package var height: Int
    package var order: ChannelOrder
    /// Factor of each channel, in `order`.
    package var scale: [Float]
    /// What is added to each channel, in `order`.
    package var bias: [Float]

    /// Creates a description of an input; one scale and one bias for each channel.
    package init(width: Int, height: Int, order: ChannelOrder, scale: [Float], bias: [Float]) {
        precondition(scale.count == order.channelCount && bias.count == order.channelCount)
        self.width = width
        self.height = height
        self.order = order
        self.scale = scale
        self.bias = bias
    }

    package var shape: Shape { Shape(height: height, width: width, channels: order.channelCount) }
}

/// The channels that a network sees, in its order.
package enum ChannelOrder: String, Hashable, Sendable, CaseIterable {
    case rgb = "RGB"
    case bgr = "BGR"
    /// One channel of brightness.
    case gray = "GRAY"

    package var channelCount: Int { self == .gray ? 1 : 3 }
}

/// What the values of a network's output mean.
package enum OutputKind: String, Hashable, Sendable, CaseIterable {
    /// A soft-max over the channels (a sigmoid of a single one) makes them confidences.
    case logits
    /// They are confidences, 0 to 1.
    case probabilities
}

/// A colour of 8 bits a channel.
package struct PaletteColor: Hashable, Sendable {
    /// Intensity, 0 to 255.
    package var red, green, blue: UInt8

    package init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }
}

/// Where a network came from, as far as its file tells.
package struct ModelSource: Hashable, Sendable {
    /// Name of the file that was converted.
    package var file: String?
    /// SHA-256 of that file, in hexadecimal.
    package var sha256: String?
    package var licence: String?
    /// Address where it was published.
    package var upstream: String?

    package init(file: String? = nil, sha256: String? = nil, licence: String? = nil, upstream: String? = nil) {
        self.file = file
        self.sha256 = sha256
        self.licence = licence
        self.upstream = upstream
    }
}
