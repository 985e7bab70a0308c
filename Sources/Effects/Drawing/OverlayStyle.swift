import Imaging

/// How classes are shown over a picture.
public struct OverlayStyle: Hashable, Sendable {
    /// 0 shows the picture, 1 the colours; in `opacityRange`.
    public var opacity: Float
    /// Width of a line around each object, inside of it, in pixels; 0 for none. In `outlineRange`.
    public var outline: Float
    /// Colours for some classes, by index, in place of the palette's.
    public var colors: [Int: RGBColor]

    /// What `opacity` may be.
    public static let opacityRange: ClosedRange<Float> = 0...1
    /// What `outline` may be, in pixels.
    public static let outlineRange: ClosedRange<Float> = 0...50

    /// Creates a style: half opaque without outlines by default.
    public init(opacity: Float = 0.5, outline: Float = 0, colors: [Int: RGBColor] = [:]) {
        self.opacity = opacity
        self.outline = outline
        self.colors = colors
    }
}

extension Compositing {
    /// The picture under the colours of its classes, as `overlay(_:categories:palette:opacity:over:)` draws it, with an edge and
    /// outlines; RGB.
    ///
    /// - Parameters:
    ///   - categories: The class of each pixel; 0 is shown as it is.
    ///   - matte: How far each pixel belongs to what is shown. Nil: as the categories say.
    package static func overlay(
        _ picture: Image, categories: [UInt8], matte: Matte? = nil, palette: Palette, style: OverlayStyle
    ) -> Image {
        var palette = palette
        palette.recolor(style.colors)
        guard matte != nil || style.outline > 0 else {
            return categories.withUnsafeBufferPointer {
                overlay(picture, categories: $0, palette: palette, opacity: style.opacity)
            }
        }
        let opacity = byte(fraction: style.opacity)
        guard style.outline > 0 else {
            return overlay(picture, categories: categories, palette: palette) {
                blend(opacity, over: 0, alpha: matte?.opacities[$0] ?? 255)
            }
        }
        var alphas = [UInt8](repeating: opacity, count: picture.size.pixelCount)
        if let matte {
            for index in alphas.indices { alphas[index] = blend(alphas[index], over: 0, alpha: matte.opacities[index]) }
        }
        draw(outline: style.outline, of: categories, picture.size, matte, into: &alphas)
        return overlay(picture, categories: categories, palette: palette) { alphas[$0] }
    }

    /// The picture under the colours of its classes, as far as the alpha of each pixel says; RGB.
    ///
    /// Shaders/effect_overlay.comp does the same.
    @inline(__always)
    static func overlay(
        _ picture: Image, categories: [UInt8], palette: Palette, alpha: (_ pixel: Int) -> UInt8
    ) -> Image {
        let colors = (0..<256).map { palette[$0] }
        var result = picture.flattened()
        result.bytes.withUnsafeMutableBufferPointer { bytes in
            for index in categories.indices where categories[index] != 0 {
                let alpha = alpha(index)
                guard alpha != 0 else { continue }
                let color = colors[Int(categories[index])]
                bytes[3 * index] = blend(color.red, over: bytes[3 * index], alpha: alpha)
                bytes[3 * index + 1] = blend(color.green, over: bytes[3 * index + 1], alpha: alpha)
                bytes[3 * index + 2] = blend(color.blue, over: bytes[3 * index + 2], alpha: alpha)
            }
        }
        return result
    }

    private static func draw(
        outline: Float, of categories: [UInt8], _ size: PixelSize, _ matte: Matte?, into alphas: inout [UInt8]
    ) {
        let width = size.width
        // Pixels beyond which another class begins. The picture's border is no edge of an object.
        let squares = DistanceTransform.squaredDistances(size) { index in
            let category = categories[index]
            let x = index % width
            return (x > 0 && categories[index - 1] != category)
                || (x < width - 1 && categories[index + 1] != category)
                || (index >= width && categories[index - width] != category)
                || (index < categories.count - width && categories[index + width] != category)
        }
        for index in alphas.indices where categories[index] != 0 {
            let covered = byte(fraction: outline - squares[index].squareRoot() + 0.5)
            alphas[index] = max(alphas[index], blend(covered, over: 0, alpha: matte?.opacities[index] ?? 255))
        }
    }
}
