extension Matte {
    /// Moves the edge outwards, or inwards where `pixels` is negative. A matte without an edge stays as it is.
    ///
    /// What is more than half opaque grows by whole discs; the soft part of the old edge stays where it reaches farther.
    package mutating func grow(by pixels: Float) {
        let grows = pixels > 0
        let distance = abs(pixels)
        let squares = opacities.withUnsafeBufferPointer { opacities in
            DistanceTransform.squaredDistances(size) { (opacities[$0] >= 128) == grows }
        }
        // The edge lies half a pixel before the centre of the nearest pixel on its other side.
        let limit = (distance + 1) * (distance + 1)
        opacities.withUnsafeMutableBufferPointer { opacities in
            for index in opacities.indices where squares[index] < limit {
                let covered = byte(fraction: distance + 0.5 - squares[index].squareRoot() + 0.5)
                opacities[index] = grows ? max(opacities[index], covered) : min(opacities[index], 255 - covered)
            }
        }
    }

    /// Lets the edge fade over `pixels`, half of them on each side.
    package mutating func feather(by pixels: Float) {
        // Most of a Gaussian, 95 %, lies within twice its deviation on both sides.
        let deviation = pixels / 4
        let step = max(1, Int(deviation / 3))
        let small = PixelSize(width: (size.width + step - 1) / step, height: (size.height + step - 1) / step)
        let plane = step == 1 ? image : image.resized(width: small.width, height: small.height)
        let grid = Grid(small, plane.bytes.map { SIMD4(Float($0) / 255, 0, 0, 0) }).blurred(
            deviation: deviation / Float(step))
        let sampler = GridSampler(grid, over: size)
        opacities.withUnsafeMutableBufferPointer { opacities in
            for y in 0..<size.height {
                sampler.move(toRow: y)
                for x in 0..<size.width { opacities[y * size.width + x] = byte(fraction: sampler.value(at: x).x) }
            }
        }
    }
}
