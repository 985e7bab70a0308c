extension PixelWords {
    /// One half in fixed point, for both channels of a word: added first, so that dropping the fraction rounds.
    private static let half: UInt64 = (1 << (ResampleTaps.precision - 1)) * 0x1_0000_0001

    /// The whole parts of both channels, at most 255.
    ///
    /// Rounded weights may add up to a little more than one: with 16,450 of them white could come out as 256.
    @inline(__always)
    private static func rounded(_ sum: UInt64) -> UInt64 {
        let whole = (sum >> ResampleTaps.precision) & 0x0000_01ff_0000_01ff
        let over = (whole >> 8) & 0x0000_0001_0000_0001
        return (whole | (over &* 255)) & 0x0000_00ff_0000_00ff
    }

    /// Filters a row of pixels of one word each.
    static func filterSingle(
        _ source: UnsafePointer<UInt64>, _ taps: ResampleTaps, _ width: Int, into result: UnsafeMutablePointer<UInt64>
    ) {
        taps.withSpans(width) { x, start, count, weights in
            let from = source + start
            var sum = half
            for tap in 0..<count { sum &+= from[tap] &* weights[tap] }
            result[x] = rounded(sum)
        }
    }

    /// Filters a row of pixels of two words each.
    static func filterPairs(
        _ source: UnsafePointer<UInt64>, _ taps: ResampleTaps, _ width: Int, into result: UnsafeMutablePointer<UInt64>
    ) {
        taps.withSpans(width) { x, start, count, weights in
            let from = source + 2 * start
            var first = half
            var second = half
            for tap in 0..<count {
                first &+= from[2 * tap] &* weights[tap]
                second &+= from[2 * tap + 1] &* weights[tap]
            }
            result[2 * x] = rounded(first)
            result[2 * x + 1] = rounded(second)
        }
    }

    /// Adds up rows of `wordCount` words, each with its weight.
    static func combine(
        rows: UnsafePointer<UnsafePointer<UInt64>>, weights: UnsafePointer<UInt64>, count: Int, _ wordCount: Int,
        into result: UnsafeMutablePointer<UInt64>
    ) {
        for index in 0..<wordCount {
            var sum = half
            for tap in 0..<count { sum &+= rows[tap][index] &* weights[tap] }
            result[index] = rounded(sum)
        }
    }

    /// Puts a row's channels together again as bytes; multiplied colour becomes straight colour.
    static func pack(
        _ words: UnsafePointer<UInt64>, _ width: Int, to format: PixelFormat, into bytes: UnsafeMutablePointer<UInt8>
    ) {
        switch format {
        case .gray:
            for x in 0..<width { bytes[x] = UInt8(truncatingIfNeeded: words[x]) }
        case .rgb, .bgr:
            for x in 0..<width {
                let first = words[2 * x]
                bytes[3 * x] = UInt8(truncatingIfNeeded: first)
                bytes[3 * x + 1] = UInt8(truncatingIfNeeded: first >> 32)
                bytes[3 * x + 2] = UInt8(truncatingIfNeeded: words[2 * x + 1])
            }
        case .rgba, .bgra:
            for x in 0..<width {
                let alpha = UInt8(truncatingIfNeeded: words[2 * x + 1] >> 32)
                bytes[4 * x] = divided(words[2 * x], by: alpha)
                bytes[4 * x + 1] = divided(words[2 * x] >> 32, by: alpha)
                bytes[4 * x + 2] = divided(words[2 * x + 1], by: alpha)
                bytes[4 * x + 3] = alpha
            }
        }
    }

    /// Straight colour from multiplied colour, rounded down as Pillow does; as it is under alpha 0.
    @inline(__always)
    private static func divided(_ color: UInt64, by alpha: UInt8) -> UInt8 {
        let color = UInt32(truncatingIfNeeded: color & 0xff)
        if alpha == 0 || alpha == 255 { return UInt8(truncatingIfNeeded: color) }
        return UInt8(truncatingIfNeeded: min(255, 255 &* color / UInt32(alpha)))
    }
}

extension ResampleTaps {
    /// Calls `body` for every target position with its first source position, their number and their weights.
    @inline(__always)
    fileprivate func withSpans(_ width: Int, _ body: (Int, Int, Int, UnsafePointer<UInt64>) -> Void) {
        starts.withUnsafeBufferPointer { starts in
            counts.withUnsafeBufferPointer { counts in
                withWeights(at: 0) { weights in
                    for x in 0..<width { body(x, starts[x], counts[x], weights + x * stride) }
                }
            }
        }
    }
}
