/// Pixels spread out for arithmetic: two channels to a 64-bit word, each in its own 32-bit half.
///
/// One multiplication of such a word by a 22-bit weight multiplies both channels: 255 * 2^22 needs 30 bits, so the
/// sums of a resize stay within their halves. That makes the resize fast on every processor without vector
/// instructions of its own.
///
/// | result | words a pixel | contents |
/// |---|---|---|
/// | gray | 1 | gray, 0 |
/// | RGB | 2 | red, green; blue, 0 |
/// | RGBA | 2 | red, green; blue, alpha; the colour multiplied by alpha |
enum PixelWords {
    static func count(for format: PixelFormat) -> Int { format == .gray ? 1 : 2 }

    /// Spreads out one row, converting it on the way: alpha is put over `background` where the result has none.
    static func unpack(
        _ source: UnsafePointer<UInt8>, _ width: Int, from format: PixelFormat, to result: PixelFormat,
        over background: RGBColor, into words: UnsafeMutablePointer<UInt64>
    ) {
        switch format {
        case .gray:
            spread(source, width, 1, result, into: words) { ($0[0], $0[0], $0[0], 255) }
        case .rgb:
            spread(source, width, 3, result, into: words) { ($0[0], $0[1], $0[2], 255) }
        case .bgr:
            spread(source, width, 3, result, into: words) { ($0[2], $0[1], $0[0], 255) }
        case .rgba where result == .rgba:
            spread(source, width, 4, result, into: words) { multiplied($0[0], $0[1], $0[2], $0[3]) }
        case .bgra where result == .rgba:
            spread(source, width, 4, result, into: words) { multiplied($0[2], $0[1], $0[0], $0[3]) }
        case .rgba:
            spread(source, width, 4, result, into: words) { flat($0[0], $0[1], $0[2], $0[3], background) }
        case .bgra:
            spread(source, width, 4, result, into: words) { flat($0[2], $0[1], $0[0], $0[3], background) }
        }
    }

    private typealias Pixel = (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8)

    @inline(__always)
    private static func multiplied(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) -> Pixel {
        (
            blend(red, over: 0, alpha: alpha), blend(green, over: 0, alpha: alpha),
            blend(blue, over: 0, alpha: alpha), alpha
        )
    }

    @inline(__always)
    private static func flat(
        _ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8, _ background: RGBColor
    ) -> Pixel {
        (
            blend(red, over: background.red, alpha: alpha), blend(green, over: background.green, alpha: alpha),
            blend(blue, over: background.blue, alpha: alpha), 255
        )
    }

    @inline(__always)
    private static func spread(
        _ source: UnsafePointer<UInt8>, _ width: Int, _ channels: Int, _ result: PixelFormat,
        into words: UnsafeMutablePointer<UInt64>, _ load: (UnsafePointer<UInt8>) -> Pixel
    ) {
        var from = source
        switch result {
        case .gray:
            for x in 0..<width {
                let pixel = load(from)
                words[x] = UInt64(luminance(pixel.red, pixel.green, pixel.blue))
                from += channels
            }
        case .rgba, .bgra:
            for x in 0..<width {
                let pixel = load(from)
                words[2 * x] = UInt64(pixel.red) | UInt64(pixel.green) << 32
                words[2 * x + 1] = UInt64(pixel.blue) | UInt64(pixel.alpha) << 32
                from += channels
            }
        case .rgb, .bgr:
            for x in 0..<width {
                let pixel = load(from)
                words[2 * x] = UInt64(pixel.red) | UInt64(pixel.green) << 32
                words[2 * x + 1] = UInt64(pixel.blue)
                from += channels
            }
        }
    }
}
