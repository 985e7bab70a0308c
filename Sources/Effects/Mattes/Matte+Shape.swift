import Imaging

extension Matte {
    /// Moves the edge outwards, or inwards where `pixels` is negative; what is soft stays as soft. A matte without an edge stays
    /// as it is.
    package mutating func grow(by pixels: Float) {
        guard pixels != 0 else { return }
        // Far from where it was an edge has no detail left, and a smaller copy is moved as well and faster.
        let step = max(1, Int((abs(pixels) / Self.largestDisc).rounded(.up)))
        var plane = DiscFilter(size: size, values: opacities)
        if step > 1 {
            let small = PixelSize(
                width: max(1, (size.width + step / 2) / step), height: max(1, (size.height + step / 2) / step))
            plane = DiscFilter(size: small, values: resized(to: small))
        }
        // Shrinking the subject is growing the background.
        if pixels < 0 { plane.invert() }
        plane.grow(by: abs(pixels) / Float(step))
        if pixels < 0 { plane.invert() }
        guard step > 1 else {
            opacities = plane.values
            return
        }
        let grid = Grid(plane.size, plane.values.map { SIMD4(Float($0) / 255, 0, 0, 0) })
        let sampler = GridSampler(grid, over: size)
        let grows = pixels > 0
        opacities.withUnsafeMutableBufferPointer { opacities in
            for y in 0..<size.height {
                sampler.move(toRow: y)
                for x in 0..<size.width {
                    let moved = byte(fraction: sampler.value(at: x).x)
                    let index = y * size.width + x
                    opacities[index] = grows ? max(opacities[index], moved) : min(opacities[index], moved)
                }
            }
        }
    }

    /// The largest disc that is moved along every edge, in pixels.
    private static let largestDisc: Float = 32

    /// Lets the edge fade over `pixels`, half of them on each side.
    package mutating func feather(by pixels: Float) {
        // Most of a Gaussian, 95 %, lies within twice its deviation on both sides.
        let deviation = pixels / 4
        let step = max(1, Int(deviation / 3))
        let small = PixelSize(width: (size.width + step - 1) / step, height: (size.height + step - 1) / step)
        let copy = step == 1 ? [] : resized(to: small)
        copy.withUnsafeBufferPointer { copy in
            opacities.withUnsafeMutableBufferPointer { opacities in
                guard let bytes = step == 1 ? UnsafePointer(opacities.baseAddress) : copy.baseAddress else { return }
                // A few rows at a time: floats of all pixels are a multiple of the picture.
                PlaneRows(small, bytes: bytes).blurred(deviation: deviation / Float(step)).forEachPixel(of: size) {
                    opacities[$0] = byte(fraction: $1)
                }
            }
        }
    }

    /// The opacities in a smaller copy.
    func resized(to target: PixelSize) -> [UInt8] {
        let resizer = Resizer(from: size, to: target, format: .gray)
        return opacities.withUnsafeBufferPointer { opacities in
            let view = ImageView(
                vouched: UnsafeRawBufferPointer(opacities), size: size, format: .gray, rowStride: size.width)
            return [UInt8](unsafeUninitializedCapacity: target.pixelCount) { result, count in
                resizer.resize(view, into: UnsafeMutableBufferPointer(rebasing: result[..<target.pixelCount]))
                count = target.pixelCount
            }
        }
    }
}
