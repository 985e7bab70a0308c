import Imaging

extension Compositing {
    /// The subject alone: RGBA with straight alpha.
    ///
    /// Where the edge mixes subject and background, the colour is the subject's own, so that no rim of the old background shows on
    /// a new one. A picture's own alpha is multiplied in, so that a hole stays a hole; what is transparent is black.
    ///
    /// - Parameter matte: Of the picture's size.
    package static func cutout(_ picture: Image, matte: Matte) -> Image {
        draw(picture, matte, PixelPassPlan(picture.size, over: nil))
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
        draw(
            picture, matte, PixelPassPlan(picture.size, over: background),
            backdrop: prepared ?? background.picture(of: picture.size))
    }

    /// What is behind the subject, as far as it shows; RGB. Where the matte is opaque, the picture stands for it.
    ///
    /// A cut-out over it is the picture.
    package static func ownBackground(_ picture: Image, matte: Matte) -> Image {
        precondition(matte.size == picture.size, "the matte has another size than the picture")
        let flat = picture.flattened()
        guard matte.hasEdge else { return flat }
        var result = flat
        result.bytes.withUnsafeMutableBufferPointer { bytes in
            Edge(flat, matte, EdgeColors(flat, matte)).forEachPixel { pixel, colors in
                (colors.background * 255).store(bytes, pixel)
            }
        }
        return result
    }

    /// Draws by a plan.
    ///
    /// - Parameter backdrop: What is behind the subject, where the plan asks for a picture.
    static func draw(_ picture: Image, _ matte: Matte, _ plan: PixelPassPlan, backdrop: Image? = nil) -> Image {
        precondition(matte.size == picture.size, "the matte has another size than the picture")
        let flat = picture.flattened()
        let pass = PixelPass(
            plan, edge: matte.hasEdge ? EdgeColors(flat, matte) : nil, backdrop: backdrop,
            blurred: plan.blur.map { $0.colors(of: flat, matte) })
        return pass.draw(picture, flat: flat, matte)
    }
}

extension PixelPass {
    /// Draws a picture: what Shaders/effect.comp does on a device.
    ///
    /// - Parameter flat: The picture in RGB.
    fileprivate func draw(_ picture: Image, flat: Image, _ matte: Matte) -> Image {
        let edge = self.edge.map { Edge(flat, matte, $0) }
        return switch plan.drawing {
        case .cutout: cutout(picture, matte, edge)
        case .composite(let treatment): composite(picture, flat, matte, edge, treatment)
        case .overlay: preconditionFailure("overlays are drawn of classes: PictureDrawing does that")
        }
    }

    private func cutout(_ picture: Image, _ matte: Matte, _ edge: Edge?) -> Image {
        var result = matte.opacities.withUnsafeBufferPointer { Compositing.cutout(picture, alpha: $0) }
        guard let edge else { return result }
        result.bytes.withUnsafeMutableBufferPointer { bytes in
            edge.forEachPixel { pixel, colors in
                // What lets something through by itself keeps its colour: at the edge it is one before white.
                guard bytes[4 * pixel + 3] == matte.opacities[pixel] else { return }
                for channel in 0..<3 { bytes[4 * pixel + channel] = byte(fraction: colors.subject[channel]) }
            }
        }
        return result
    }

    private func composite(
        _ picture: Image, _ flat: Image, _ matte: Matte, _ edge: Edge?, _ treatment: Treatment
    ) -> Image {
        let behind =
            switch self.behind {
            case .own: flat
            case .picture(let backdrop): backdrop
            case .grid(let colors): Image(colors, over: flat.size)
            }
        let isTreated = treatment != .none
        // Holes in the picture show the background; what lets only some of it through does so in its own colour, not in that
        // before white.
        let stored = picture.format.hasAlpha ? picture.converted(to: .rgba) : nil
        func ownColor(_ pixel: Int) -> SIMD3<Float> {
            guard let bytes = stored?.bytes else { return SIMD3(flat.bytes, pixel) }
            return SIMD3(Float(bytes[4 * pixel]), Float(bytes[4 * pixel + 1]), Float(bytes[4 * pixel + 2]))
        }
        let opacities = picture.format.hasAlpha ? multiplied(matte, by: picture).opacities : matte.opacities
        var result = flat
        result.bytes.withUnsafeMutableBufferPointer { bytes in
            for pixel in opacities.indices where opacities[pixel] != 255 {
                if opacities[pixel] == 0 || matte.opacities[pixel] == 255 {
                    let treated = treatment.apply(SIMD3<Float>(behind.bytes, pixel))
                    let alpha = Float(opacities[pixel]) / 255
                    (ownColor(pixel) * alpha + treated * (1 - alpha)).store(bytes, pixel)
                }
            }
            edge?.forEachPixel { pixel, colors in
                let alpha = Float(opacities[pixel]) / 255
                let own =
                    isTreated ? treatment.apply(colors.background * 255) : SIMD3<Float>(behind.bytes, pixel)
                let front = opacities[pixel] == matte.opacities[pixel] ? colors.subject * 255 : ownColor(pixel)
                (front * alpha + own * (1 - alpha)).store(bytes, pixel)
            }
        }
        return result
    }

    private func multiplied(_ matte: Matte, by picture: Image) -> Matte {
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
}

extension Matte {
    /// Whether subject and background share a pixel.
    fileprivate var hasEdge: Bool { opacities.contains { $0 != 0 && $0 != 255 } }
}

/// The pixels of a picture that subject and background share.
private struct Edge {
    private let picture: Image
    private let matte: Matte
    private let colors: EdgeColorSampler

    /// - Parameter picture: RGB.
    init(_ picture: Image, _ matte: Matte, _ colors: EdgeColors) {
        self.picture = picture
        self.matte = matte
        self.colors = EdgeColorSampler(colors, over: picture.size)
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
    func store(_ bytes: UnsafeMutableBufferPointer<UInt8>, _ pixel: Int) {
        let rounded = (clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255)) + 0.5)
        bytes[3 * pixel] = UInt8(rounded.x)
        bytes[3 * pixel + 1] = UInt8(rounded.y)
        bytes[3 * pixel + 2] = UInt8(rounded.z)
    }
}
