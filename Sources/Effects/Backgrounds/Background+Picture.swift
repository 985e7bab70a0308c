import Imaging
import Glibc

extension Background {
    /// The background as a picture, RGB, for photographs of one size. Nil where it is made of the photograph itself.
    package func picture(of size: PixelSize) -> Image? {
        switch self {
        case .color(let color): Image(size: size, format: .rgb, color: color)
        case .gradient(let gradient): gradient.picture(of: size)
        case .picture(let image, let fit): image.laid(fit, over: size)
        case .blur, .gray, .dim: nil
        }
    }
}

extension Gradient {
    fileprivate func picture(of size: PixelSize) -> Image {
        let radians = Double(angle) * .pi / 180
        let direction = SIMD2(Float(sin(radians)), Float(-cos(radians)))
        let (width, height) = (Float(size.width), Float(size.height))
        let length = max(abs(width * direction.x) + abs(height * direction.y), 1)
        // Noise below one level hides the bands that 8 bits would show. The same noise each time.
        var noise: UInt32 = 0x9e37_79b9
        return Image(size, .rgb) { bytes in
            var index = 0
            for y in 0..<size.height {
                let down = (Float(y) + 0.5 - height / 2) * direction.y
                for x in 0..<size.width {
                    let along = (Float(x) + 0.5 - width / 2) * direction.x + down
                    let color = color(at: along / length + 0.5)
                    noise = noise &* 1_664_525 &+ 1_013_904_223
                    let dither = Float(noise >> 8) / Float(1 << 24)
                    for channel in 0..<3 {
                        // A colour that is whole stays what it is.
                        bytes[index + channel] = UInt8(min(255, color[channel] + dither * 0.999))
                    }
                    index += 3
                }
            }
        }
    }
}

extension Image {
    /// The picture over another one's size, RGB; black where it does not reach, white where it is transparent.
    fileprivate func laid(_ fit: PictureFit, over target: PixelSize) -> Image {
        switch fit {
        case .cover:
            let geometry = FitGeometry(.crop, picture: size, network: target)
            return cropped(to: geometry.source).shrunk(to: target)
        case .contain:
            let geometry = FitGeometry(.letterbox, picture: size, network: target)
            let inner = shrunk(to: geometry.target.size)
            var result = Image(size: target, format: .rgb, color: .black)
            let (place, stride) = (geometry.target, result.rowStride)
            for y in 0..<place.height {
                let start = (place.y + y) * stride + place.x * 3
                result.bytes.replaceSubrange(
                    start..<start + place.width * 3, with: inner.bytes[y * place.width * 3..<(y + 1) * place.width * 3])
            }
            return result
        case .tile:
            let plain = flattened()
            return Image(target, .rgb) { bytes in
                for y in 0..<target.height {
                    let row = y % height * width * 3
                    for x in 0..<target.width {
                        let (from, to) = (row + x % width * 3, (y * target.width + x) * 3)
                        for channel in 0..<3 { bytes[to + channel] = plain.bytes[from + channel] }
                    }
                }
            }
        }
    }

    /// A part of the picture, which lies inside it; without row padding.
    package func cropped(to part: PixelRect) -> Image {
        if part == PixelRect(size) { return self }
        return withView { view in
            Image(part.size, format) { bytes in
                let count = part.width * format.channelCount
                for y in 0..<part.height {
                    (bytes.baseAddress! + y * count).update(
                        from: view.row(part.y + y) + part.x * format.channelCount, count: count)
                }
            }
        }
    }
}
