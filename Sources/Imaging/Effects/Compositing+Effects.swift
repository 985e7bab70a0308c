extension Compositing {
    /// The subject alone: RGBA with straight alpha.
    ///
    /// Where the edge mixes subject and background, the colour is the subject's own, so that no rim of the old background shows on
    /// a new one. A picture's own alpha is multiplied in, so that a hole stays a hole; what is transparent is black.
    ///
    /// - Parameter matte: Of the picture's size.
    public static func cutout(_ picture: Image, matte: Matte) -> Image {
        precondition(matte.size == picture.size, "the matte has another size than the picture")
        var result = matte.opacities.withUnsafeBufferPointer { cutout(picture, alpha: $0) }
        guard let edge = Edge(picture, matte) else { return result }
        result.bytes.withUnsafeMutableBufferPointer { bytes in
            edge.forEachPixel { pixel, colors in
                guard bytes[4 * pixel + 3] != 0 else { return }
                for channel in 0..<3 { bytes[4 * pixel + channel] = byte(fraction: colors.subject[channel]) }
            }
        }
        return result
    }

    /// The subject before another background; RGB.
    ///
    /// Where the matte is opaque the picture's bytes stay as they are; where it is transparent, nothing of the subject is left.
    ///
    /// - Parameters:
    ///   - matte: Of the picture's size.
    ///   - prepared: The background as `Background.picture(of:)` makes it, where that has been done before.
    package static func composite(
        _ picture: Image, matte: Matte, over background: Background, prepared: Image? = nil
    ) -> Image {
        precondition(matte.size == picture.size, "the matte has another size than the picture")
        let flat = picture.flattened()
        let behind: Image
        switch background {
        case .color, .gradient, .picture:
            behind = prepared ?? background.picture(of: picture.size) ?? flat
        case .blur(let radius):
            let standard = Float(max(picture.width, picture.height)) / 40
            behind = blurredBackground(flat, matte, radius: radius ?? max(standard, Background.blurRange.lowerBound))
        case .gray, .dim: behind = flat
        }
        let style = Treatment(background)
        // Holes in the picture show the background.
        let opacities = picture.format.hasAlpha ? multiplied(matte, by: picture).opacities : matte.opacities
        var result = flat
        let count = picture.size.pixelCount
        result.bytes.withUnsafeMutableBufferPointer { bytes in
            for pixel in 0..<count where opacities[pixel] != 255 {
                let color = SIMD3<Float>(behind.bytes, pixel)
                let treated = style.apply(color)
                if opacities[pixel] == 0 || matte.opacities[pixel] == 255 {
                    let alpha = Float(opacities[pixel]) / 255
                    (SIMD3<Float>(bytes, pixel) * alpha + treated * (1 - alpha)).store(bytes, pixel)
                }
            }
            Edge(flat, matte)?.forEachPixel { pixel, colors in
                let alpha = Float(opacities[pixel]) / 255
                let own = style.isOwn ? style.apply(colors.background * 255) : SIMD3<Float>(behind.bytes, pixel)
                (colors.subject * 255 * alpha + own * (1 - alpha)).store(bytes, pixel)
            }
        }
        return result
    }

    /// What is behind the subject, as far as it shows; RGB. Where the matte is opaque, the picture stands for it.
    ///
    /// A cut-out over it is the picture.
    package static func ownBackground(_ picture: Image, matte: Matte) -> Image {
        precondition(matte.size == picture.size, "the matte has another size than the picture")
        var result = picture.flattened()
        guard let edge = Edge(result, matte) else { return result }
        result.bytes.withUnsafeMutableBufferPointer { bytes in
            edge.forEachPixel { pixel, colors in (colors.background * 255).store(bytes, pixel) }
        }
        return result
    }

    /// What becomes of the colour behind the subject.
    private enum Treatment {
        case none
        case gray
        case dim(Float)

        init(_ background: Background) {
            switch background {
            case .gray: self = .gray
            case .dim(let amount): self = .dim(amount)
            case .color, .gradient, .picture, .blur: self = .none
            }
        }

        /// Whether it is made of the photograph pixel by pixel.
        var isOwn: Bool { if case .none = self { false } else { true } }

        @inline(__always)
        func apply(_ color: SIMD3<Float>) -> SIMD3<Float> {
            switch self {
            case .none: color
            // BT.601, as everywhere else here.
            case .gray: SIMD3(repeating: (color * SIMD3(0.299, 0.587, 0.114)).sum())
            case .dim(let amount): color * (1 - amount)
            }
        }
    }

    private static func multiplied(_ matte: Matte, by picture: Image) -> Matte {
        var result = matte
        picture.withView { view in
            for y in 0..<picture.height {
                let row = view.row(y)
                for x in 0..<picture.width {
                    let index = y * picture.width + x
                    result.opacities[index] = blend(result.opacities[index], over: 0, alpha: row[4 * x + 3])
                }
            }
        }
        return result
    }

    /// The background out of focus, as if the subject were not there: weights that are less where it is more opaque keep its
    /// colours out.
    private static func blurredBackground(_ picture: Image, _ matte: Matte, radius: Float) -> Image {
        let size = picture.size
        // A blurred picture loses nothing in a smaller copy. Of large ones a smaller copy is taken in any case: the
        // memory for floats would be twenty times the picture's.
        let pixelLimit = 4_000_000
        let forMemory = Int((Double(size.pixelCount) / Double(pixelLimit)).squareRoot().rounded(.up))
        let step = max(1, Int(radius / 3), forMemory)
        let small = PixelSize(
            width: max(1, (size.width + step - 1) / step), height: max(1, (size.height + step - 1) / step))
        let weighted = Image(size, .rgba) { bytes in
            for pixel in 0..<size.pixelCount {
                let rest = 255 - matte.opacities[pixel]
                for channel in 0..<3 { bytes[4 * pixel + channel] = picture.bytes[3 * pixel + channel] }
                bytes[4 * pixel + 3] = blend(rest, over: 0, alpha: rest)
            }
        }.resized(width: small.width, height: small.height)
        var sums = Grid(small) { (result: UnsafeMutablePointer<SIMD4<Float>>) in
            for pixel in 0..<small.pixelCount {
                let weight = Float(weighted.bytes[4 * pixel + 3]) / 255
                let color = SIMD3(
                    Float(weighted.bytes[4 * pixel]), Float(weighted.bytes[4 * pixel + 1]),
                    Float(weighted.bytes[4 * pixel + 2]))
                result[pixel] = SIMD4(color * weight, weight)
            }
        }
        let deviation = radius / Float(step)
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
        let sampler = GridSampler(blurred, over: size)
        return Image(size, .rgb) { bytes in
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

/// The pixels of a picture that subject and background share.
private struct Edge {
    let picture: Image
    let matte: Matte
    let colors: EdgeColors

    /// Nil where there are no such pixels.
    init?(_ picture: Image, _ matte: Matte) {
        guard matte.opacities.contains(where: { $0 != 0 && $0 != 255 }) else { return nil }
        self.picture = picture.flattened()
        self.matte = matte
        colors = EdgeColors(self.picture, matte)
    }

    /// Calls `body` with the index of each such pixel and its two colours, 0 to 1.
    func forEachPixel(
        _ body: (Int, (subject: SIMD3<Float>, background: SIMD3<Float>)) -> Void
    ) {
        for y in 0..<matte.size.height {
            let start = y * matte.size.width
            for x in 0..<matte.size.width {
                let opacity = matte.opacities[start + x]
                guard opacity != 0, opacity != 255 else { continue }
                colors.move(toRow: y)
                body(start + x, colors.separated(picture.color(start + x), alpha: Float(opacity) / 255, at: x))
            }
        }
    }
}

extension SIMD3<Float> {
    /// The colour of a pixel of three bytes.
    @inline(__always)
    fileprivate init(_ bytes: some RandomAccessCollection<UInt8>, _ pixel: Int) where Scalar == Float {
        let start = bytes.index(bytes.startIndex, offsetBy: 3 * pixel)
        self.init(
            Float(bytes[start]), Float(bytes[bytes.index(start, offsetBy: 1)]),
            Float(bytes[bytes.index(start, offsetBy: 2)]))
    }

    /// Writes a pixel of three bytes, rounded half up.
    @inline(__always)
    fileprivate func store(_ bytes: UnsafeMutableBufferPointer<UInt8>, _ pixel: Int) {
        let rounded = (clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255)) + 0.5)
        bytes[3 * pixel] = UInt8(rounded.x)
        bytes[3 * pixel + 1] = UInt8(rounded.y)
        bytes[3 * pixel + 2] = UInt8(rounded.z)
    }
}
