import Imaging

/// Pictures made from a picture and a mask, on the processor.
///
/// Small pure functions with one rounding rule, "half up after the division by 255", which the shaders repeat within
/// one level. Masks have the picture's size, one value a pixel, rows from the top without padding.
package enum Compositing {
    /// The picture, put over `background` where it is transparent, with each class's colour laid over it; RGB.
    ///
    /// `(color * opacity + picture * (255 - opacity)) / 255` a channel; class 0 is the background and stays as it is.
    ///
    /// - Parameters:
    ///   - categories: Class indices.
    ///   - opacity: 0 shows the picture, 1 the colours; rounded to 1/255.
    package static func overlay(
        _ picture: Image, categories: UnsafeBufferPointer<UInt8>, palette: Palette, opacity: Float = 0.5,
        over background: RGBColor = .white
    ) -> Image {
        precondition(categories.count == picture.size.pixelCount, "the mask has another size than the picture")
        let alpha = byte(fraction: opacity)
        let colors = (0..<256).map { palette[$0] }
        var result = picture.flattened(over: background)
        let stride = result.rowStride
        let (width, height) = (result.width, result.height)
        result.bytes.withUnsafeMutableBufferPointer { bytes in
            for y in 0..<height {
                var index = y * stride
                for x in 0..<width {
                    let category = categories[y * width + x]
                    if category != 0 {
                        let color = colors[Int(category)]
                        bytes[index] = blend(color.red, over: bytes[index], alpha: alpha)
                        bytes[index + 1] = blend(color.green, over: bytes[index + 1], alpha: alpha)
                        bytes[index + 2] = blend(color.blue, over: bytes[index + 2], alpha: alpha)
                    }
                    index += 3
                }
            }
        }
        return result
    }

    /// The picture in RGBA with the mask as its straight alpha; a picture's own alpha is multiplied in, so that a
    /// hole stays a hole.
    ///
    /// Alpha is `mask * alpha / 255`. Colours are the picture's own, and black where nothing shows, so that
    /// nothing hidden is handed on.
    ///
    /// - Parameter alpha: Opacity of each pixel.
    package static func cutout(_ picture: Image, alpha mask: UnsafeBufferPointer<UInt8>) -> Image {
        precondition(mask.count == picture.size.pixelCount, "the mask has another size than the picture")
        var result = picture.converted(to: .rgba)
        let stride = result.rowStride
        let (width, height) = (result.width, result.height)
        result.bytes.withUnsafeMutableBufferPointer { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let index = y * stride + 4 * x
                    let alpha = blend(bytes[index + 3], over: 0, alpha: mask[y * width + x])
                    bytes[index + 3] = alpha
                    if alpha == 0 {
                        bytes[index] = 0
                        bytes[index + 1] = 0
                        bytes[index + 2] = 0
                    }
                }
            }
        }
        return result
    }

    /// Confidences as a gray picture: `confidence * 255` rounded half up, clamped to 0 ... 1; 0 for a NaN.
    package static func grayPlane(_ confidences: UnsafeBufferPointer<Float>, size: PixelSize) -> Image {
        precondition(confidences.count == size.pixelCount, "the plane has another size")
        return Image(size, .gray) { bytes in
            for index in bytes.indices { bytes[index] = byte(fraction: confidences[index]) }
        }
    }
}
