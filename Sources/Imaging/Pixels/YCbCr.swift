/// How video's brightness (Y) and colour differences (Cb, Cr) become red, green and blue.
///
/// Source: ITU-R BT.601-7, 2.5, and BT.709-6, 3: with `kr` and `kb` the shares of red and blue in Y, and all values from 0 to 1
/// (Cb and Cr from -0.5 to 0.5),
///
///     red   = Y + 2 (1 - kr) Cr
///     blue  = Y + 2 (1 - kb) Cb
///     green = (Y - kr red - kb blue) / (1 - kr - kb)
public struct YCbCr: Hashable, Sendable {
    /// The shares of the colours in the brightness.
    public enum Matrix: String, CaseIterable, Hashable, Sendable {
        /// Standard definition: cameras, JPEG.
        case bt601
        /// High definition.
        case bt709

        /// The shares of red and of blue.
        var shares: (red: Double, blue: Double) {
            switch self {
            case .bt601: (0.299, 0.114)
            case .bt709: (0.2126, 0.0722)
            }
        }
    }

    /// Which bytes mean black and white.
    public enum Range: String, CaseIterable, Hashable, Sendable {
        /// Y from 16 to 235, Cb and Cr from 16 to 240: nearly all video.
        case video
        /// 0 to 255: JPEG and many cameras.
        case full
    }

    /// The shares of the colours in the brightness.
    public var matrix: Matrix
    /// Which bytes mean black and white.
    public var range: Range

    /// Creates a description.
    public init(matrix: Matrix, range: Range) {
        self.matrix = matrix
        self.range = range
    }

    /// BT.601 in video range: what a video of standard definition has, where it says nothing.
    public static let bt601 = YCbCr(matrix: .bt601, range: .video)
    /// BT.709 in video range: what a video of high definition has.
    public static let bt709 = YCbCr(matrix: .bt709, range: .video)
    /// BT.601 in full range: JPEG, and the cameras that send it.
    public static let jpeg = YCbCr(matrix: .bt601, range: .full)
}

/// The same in integers: factors of 20 fractional bits.
///
/// At most 570 * 2^20 comes out, which 32 bits hold; the result is that of exact arithmetic, rounded half up, but where the exact
/// value lies within 0.001 of a half.
struct YCbCrConversion {
    private static let bits: Int32 = 20
    private let black, brightness, redCr, greenCb, greenCr, blueCb: Int32

    init(_ colors: YCbCr) {
        let (red, blue) = colors.matrix.shares
        let green = 1 - red - blue
        // Steps of a byte that are 255 levels of Y, and 255 levels of Cb and Cr.
        let (luma, chroma) = colors.range == .video ? (219.0, 224.0) : (255.0, 255.0)
        func fixed(_ value: Double) -> Int32 { Int32((value * 255 * Double(Int32(1) << Self.bits)).rounded()) }
        black = colors.range == .video ? 16 : 0
        brightness = fixed(1 / luma)
        redCr = fixed(2 * (1 - red) / chroma)
        blueCb = fixed(2 * (1 - blue) / chroma)
        greenCr = fixed(-2 * (1 - red) * red / green / chroma)
        greenCb = fixed(-2 * (1 - blue) * blue / green / chroma)
    }

    /// What a pair of colour differences adds to red, green and blue, rounding included.
    @inline(__always)
    func offsets(cb: UInt8, cr: UInt8) -> (red: Int32, green: Int32, blue: Int32) {
        let (b, r) = (Int32(cb) &- 128, Int32(cr) &- 128)
        let half = Int32(1) << (Self.bits - 1)
        return (redCr &* r &+ half, greenCb &* b &+ greenCr &* r &+ half, blueCb &* b &+ half)
    }

    /// Writes red, green and blue of a pixel.
    @inline(__always)
    func store(_ y: UInt8, _ offsets: (red: Int32, green: Int32, blue: Int32), to pixel: UnsafeMutablePointer<UInt8>) {
        let level = (Int32(y) &- black) &* brightness
        pixel[0] = Self.byte(level &+ offsets.red)
        pixel[1] = Self.byte(level &+ offsets.green)
        pixel[2] = Self.byte(level &+ offsets.blue)
    }

    @inline(__always)
    private static func byte(_ value: Int32) -> UInt8 { UInt8(truncatingIfNeeded: min(max(value >> bits, 0), 255)) }
}
