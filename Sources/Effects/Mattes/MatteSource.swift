import Imaging

/// What the opacity of each pixel is made from.
package enum MatteSource: Sendable {
    /// Linear functions of a pixel's colour give confidences, a ramp makes opacities of them.
    ///
    /// The functions lie on a grid over the picture: factors of red, green and blue (0 to 1), and what is added.
    case functions(Grid<SIMD4<Float>>, MatteRamp)
    /// It is known.
    case plane(Matte)

    /// The opacities of a picture, as the processor computes them.
    package func matte(of picture: Image) -> Matte {
        switch self {
        case .functions(let functions, let ramp): Matte(applying: functions, to: picture, ramp)
        case .plane(let matte): matte
        }
    }
}

/// Opacity over confidence: `confidence * slope + offset`, from 0 to 1.
package struct MatteRamp: Hashable, Sendable {
    /// How steep it is.
    package let slope: Float
    /// The opacity at no confidence, which may be below 0.
    package let offset: Float

    /// Creates a ramp.
    package init(slope: Float, offset: Float) {
        self.slope = slope
        self.offset = offset
    }

    /// A ramp that is half opaque at a confidence.
    package init(threshold: Float) {
        // Confidence 0 stays transparent and 1 opaque, whatever the threshold.
        slope = max(MatteConstants.standard.steepness, 0.5 / min(threshold, 1 - threshold))
        offset = 0.5 - threshold * slope
    }
}

extension Matte {
    /// Opacities from linear functions of the picture's colour, before white where that is transparent: the functions were found
    /// in such colours.
    ///
    /// Shaders/effect_layer.comp does the same steps in the same order, so that a device has the same opacities and not nearly the
    /// same: the colours of an edge are found by dividing by them.
    init(applying functions: Grid<SIMD4<Float>>, to picture: Image, _ ramp: MatteRamp) {
        let (slope, offset) = (ramp.slope, ramp.offset)
        let picture = picture.format.hasAlpha ? picture.flattened() : picture
        let size = picture.size
        let sampler = GridSampler(functions, over: size)
        let (red, green, blue) = picture.format.colorOffsets
        let channels = picture.format.channelCount
        self.init(
            size: size,
            opacities: picture.withView { view in
                [UInt8](unsafeUninitializedCapacity: size.pixelCount) { result, count in
                    for y in 0..<size.height {
                        sampler.move(toRow: y)
                        let row = view.row(y)
                        for x in 0..<size.width {
                            let pixel = row + x * channels
                            let color = SIMD4(Float(pixel[red]), Float(pixel[green]), Float(pixel[blue]), 255)
                            let terms = sampler.value(at: x) * color
                            let confidence = ((terms.x + terms.y) + (terms.z + terms.w)) * (1 / 255)
                            result[y * size.width + x] = byte(fraction: confidence * slope + offset)
                        }
                    }
                    count = size.pixelCount
                }
            })
    }
}
