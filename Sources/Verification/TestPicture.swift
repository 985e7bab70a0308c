/// A picture to try networks on: coloured discs on a slanting ground, under a little noise. The same for the same seed, always.
///
/// Noise alone would make every class equally unlikely everywhere; edges, areas and texture bring values of all sizes to all layers.
package struct TestPicture: Sendable {
    /// Columns, rows, and values of each pixel.
    package let width, height, channelCount: Int
    /// The values, row by row, channels innermost.
    package let bytes: [UInt8]

    package init(width: Int, height: Int, channelCount: Int, seed: UInt64 = 1) {
        self.width = width
        self.height = height
        self.channelCount = channelCount
        var random = Random(state: seed)
        let extent = Float(max(width, height))
        let ground = (0..<channelCount).map { _ in (level: random.unit(), slopeX: random.unit(), slopeY: random.unit())
        }
        let discs = (0..<12).map { _ in
            Disc(
                x: random.unit() * Float(width), y: random.unit() * Float(height),
                radius: (0.03 + 0.2 * random.unit()) * extent, color: (0..<channelCount).map { _ in random.unit() })
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * channelCount)
        for y in 0..<height {
            for x in 0..<width {
                let disc = discs.last { $0.covers(Float(x), Float(y)) }
                for channel in 0..<channelCount {
                    let (level, slopeX, slopeY) = ground[channel]
                    let base =
                        disc?.color[channel]
                        ?? (level + slopeX * Float(x) / extent + slopeY * Float(y) / extent) / 3
                    let value = base * 255 + (random.unit() - 0.5) * 24
                    bytes.append(UInt8(min(255, max(0, value.rounded()))))
                }
            }
        }
        self.bytes = bytes
    }

    private struct Disc {
        var x, y, radius: Float
        var color: [Float]

        func covers(_ x: Float, _ y: Float) -> Bool {
            (x - self.x) * (x - self.x) + (y - self.y) * (y - self.y) < radius * radius
        }
    }

    /// The high bits of a linear congruential generator (Knuth's MMIX).
    private struct Random {
        var state: UInt64

        /// A number in 0 ..< 1.
        mutating func unit() -> Float {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Float(state >> 40) * 0x1p-24
        }
    }
}
