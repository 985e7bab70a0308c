/// How the bytes of one pixel are laid out: 8 bits a channel, alpha straight (not multiplied into the colour).
public enum PixelFormat: String, CaseIterable, Hashable, Sendable {
    /// One byte of brightness.
    case gray
    /// Red, green, blue.
    case rgb
    /// Blue, green, red.
    case bgr
    /// Red, green, blue, alpha.
    case rgba
    /// Blue, green, red, alpha.
    case bgra

    /// Bytes of a pixel.
    public var channelCount: Int {
        switch self {
        case .gray: 1
        case .rgb, .bgr: 3
        case .rgba, .bgra: 4
        }
    }

    /// Whether the last byte of a pixel is its opacity.
    public var hasAlpha: Bool { self == .rgba || self == .bgra }

    /// Positions of red, green and blue within a pixel.
    package var colorOffsets: (red: Int, green: Int, blue: Int) {
        switch self {
        case .gray: (0, 0, 0)
        case .rgb, .rgba: (0, 1, 2)
        case .bgr, .bgra: (2, 1, 0)
        }
    }
}

/// A colour of 8 bits a channel.
public struct RGBColor: Hashable, Sendable, CustomStringConvertible {
    /// Red, green and blue, 0 to 255.
    public var red, green, blue: UInt8

    /// Creates a colour.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Reads `#rrggbb` or `rrggbb`; nil for anything else.
    public init?(hex text: String) {
        let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
        guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else {
            return nil
        }
        self.init(
            red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
            blue: UInt8(truncatingIfNeeded: value))
    }

    /// As in `#ff8000`.
    public var description: String {
        "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// 0, 0, 0.
    public static let black = RGBColor(red: 0, green: 0, blue: 0)
    /// 255, 255, 255.
    public static let white = RGBColor(red: 255, green: 255, blue: 255)
    /// 127, 127, 127: DeepLab's mean pixel, which `x / 127.5 - 1` takes to about zero.
    package static let middleGray = RGBColor(red: 127, green: 127, blue: 127)
}

/// Width and height of a picture in pixels.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Columns times rows.
    public var pixelCount: Int { width * height }

    /// As in `640x480`: width first.
    public var description: String { "\(width)x\(height)" }
}
