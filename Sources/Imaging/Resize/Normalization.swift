/// Turns 8-bit pixels into what a network reads: `byte * scale[c] + bias[c]` in float32, rounded once.
package struct Normalization: Sendable {
    /// Order of a network's input channels.
    package enum Order: String, CaseIterable, Hashable, Sendable {
        /// Red, green, blue.
        case rgb = "RGB"
        /// Blue, green, red.
        case bgr = "BGR"
        /// One channel of brightness.
        case gray = "GRAY"

        /// Channels of the input.
        package var channelCount: Int { self == .gray ? 1 : 3 }
    }

    /// Order of the channels that are made.
    package let order: Order
    /// The normalised value of every byte, 256 for each channel in the order of the result.
    private let tables: [Float]

    /// Creates a normalisation.
    ///
    /// - Parameters:
    ///   - scale: A factor for each channel, in `order`.
    ///   - bias: A summand for each channel, in `order`.
    package init(order: Order, scale: [Float], bias: [Float]) {
        precondition(scale.count == order.channelCount && bias.count == order.channelCount, "one value a channel")
        self.order = order
        tables = zip(scale, bias).flatMap { scale, bias in (0..<256).map { bias.addingProduct(Float($0), scale) } }
    }

    /// Normalises pixels, height x width x channels: gray bytes for `.gray`, else RGB, to as many floats in `order`.
    package func apply(_ bytes: UnsafeBufferPointer<UInt8>, into floats: UnsafeMutableBufferPointer<Float>) {
        precondition(bytes.count % order.channelCount == 0 && floats.count >= bytes.count, "sizes do not agree")
        guard let from = bytes.baseAddress, let to = floats.baseAddress else { return }
        tables.withUnsafeBufferPointer { tables in
            let table = tables.baseAddress!
            switch order {
            case .gray:
                for index in 0..<bytes.count { to[index] = table[Int(from[index])] }
            case .rgb:
                for index in stride(from: 0, to: bytes.count, by: 3) {
                    to[index] = table[Int(from[index])]
                    to[index + 1] = table[256 + Int(from[index + 1])]
                    to[index + 2] = table[512 + Int(from[index + 2])]
                }
            case .bgr:
                for index in stride(from: 0, to: bytes.count, by: 3) {
                    to[index] = table[Int(from[index + 2])]
                    to[index + 1] = table[256 + Int(from[index + 1])]
                    to[index + 2] = table[512 + Int(from[index])]
                }
            }
        }
    }
}
