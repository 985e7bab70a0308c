/// A colour for each class.
public struct Palette: Hashable, Sendable {
    /// Colours in the order of the class indices.
    public var colors: [RGBColor]

    /// Creates a palette from colours.
    public init(_ colors: [RGBColor]) { self.colors = colors }

    /// The PASCAL VOC colour map: class 0 is black, and the bits of a class number go to the high bits of red, green
    /// and blue in turn.
    ///
    /// Source: PASCAL VOC development kit, `VOClabelcolormap.m`. The map has 256 colours and starts over after them.
    public static func voc(count: Int) -> Palette {
        Palette((0..<max(0, count)).map(vocColor))
    }

    private static func vocColor(of index: Int) -> RGBColor {
        var bits = UInt8(truncatingIfNeeded: index)
        var color = RGBColor.black
        for position in (UInt8(0)..<8).reversed() {
            color.red |= (bits & 1) << position
            color.green |= (bits >> 1 & 1) << position
            color.blue |= (bits >> 2 & 1) << position
            bits >>= 3
        }
        return color
    }

    /// Gives some classes other colours.
    package mutating func recolor(_ replacements: [Int: RGBColor]) {
        for (index, color) in replacements where index >= 0 {
            while colors.count <= index { colors.append(self[colors.count]) }
            colors[index] = color
        }
    }

    /// The colour of a class; the VOC map's for a class behind the last colour.
    public subscript(index: Int) -> RGBColor {
        colors.indices.contains(index) ? colors[index] : Palette.vocColor(of: index)
    }
}
