import Imaging

/// How a picture's background is put out of focus, as if the subject were not there.
package struct BackgroundBlur: Hashable, Sendable {
    /// Of the smaller copy that is blurred, which is as large as the picture where little is lost.
    package let size: PixelSize
    /// The Gaussian's standard deviation in the copy.
    private let deviation: Float
    /// Of the picture.
    private let pictureSize: PixelSize

    /// - Parameter radius: The deviation in pixels of the picture. Nil: a fortieth of its longer side.
    init(_ radius: Float?, of picture: PixelSize) {
        let standard = max(Float(max(picture.width, picture.height)) / 40, Background.blurRange.lowerBound)
        let radius = radius ?? standard
        // A blurred picture loses nothing in a smaller copy. Of large ones a smaller copy is taken in any case: the
        // memory for floats would be twenty times the picture's.
        let pixelLimit = 4_000_000
        let forMemory = Int((Double(picture.pixelCount) / Double(pixelLimit)).squareRoot().rounded(.up))
        let step = max(1, Int(radius / 3), forMemory)
        size = PixelSize(
            width: max(1, (picture.width + step - 1) / step), height: max(1, (picture.height + step - 1) / step))
        deviation = radius / Float(step)
        pictureSize = picture
    }

    /// Whether the copy is as large as the picture; then its pixels are the picture's.
    package var isWhole: Bool { size == pictureSize }

    /// The blurred colours of a picture, RGB without row padding.
    func colors(of picture: Image, _ matte: Matte) -> Grid<SIMD4<Float>> {
        colors(
            of: Image(picture.size, .rgba) { bytes in
                for pixel in matte.opacities.indices {
                    let rest = 255 - matte.opacities[pixel]
                    for channel in 0..<3 { bytes[4 * pixel + channel] = picture.bytes[3 * pixel + channel] }
                    bytes[4 * pixel + 3] = blend(rest, over: 0, alpha: rest)
                }
            }.resized(width: size.width, height: size.height))
    }

    /// The blurred colours, 0 to 255: weights that are less where the subject is more opaque keep its colours out.
    ///
    /// - Parameter weighted: RGBA of the blur's size without row padding: colours, and how much each counts.
    func colors(of weighted: Image) -> Grid<SIMD4<Float>> {
        precondition(weighted.size == size && weighted.format == .rgba, "a copy of another size")
        var sums = Grid(size) { (result: UnsafeMutablePointer<SIMD4<Float>>) in
            for pixel in 0..<size.pixelCount {
                let weight = Float(weighted.bytes[4 * pixel + 3]) / 255
                let color = SIMD3(
                    Float(weighted.bytes[4 * pixel]), Float(weighted.bytes[4 * pixel + 1]),
                    Float(weighted.bytes[4 * pixel + 2]))
                result[pixel] = SIMD4(color * weight, weight)
            }
        }
        var blurred = sums.blurred(deviation: deviation)
        // Deep behind the subject nothing is near: what is a little farther shows, so that the edge has a colour.
        for _ in 0..<4 where blurred.values.contains(where: { $0.w < 1e-3 }) {
            sums = blurred
            let wider = sums.blurred(deviation: max(4 * deviation, 4))
            for index in blurred.values.indices where blurred.values[index].w < 1e-3 {
                blurred.values[index] = wider.values[index]
            }
        }
        for index in blurred.values.indices {
            let value = blurred.values[index]
            blurred.values[index] = value.w > 1e-6 ? value / value.w : .zero
        }
        return blurred
    }
}

extension Image {
    /// Colours of a grid, 0 to 255, at every pixel; RGB.
    init(_ colors: Grid<SIMD4<Float>>, over size: PixelSize) {
        let sampler = GridSampler(colors, over: size)
        self.init(size, .rgb) { bytes in
            for y in 0..<size.height {
                sampler.move(toRow: y)
                for x in 0..<size.width {
                    let color = sampler.value(at: x)
                    SIMD3(color.x, color.y, color.z).store(bytes, y * size.width + x)
                }
            }
        }
    }
}
