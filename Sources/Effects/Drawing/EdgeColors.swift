import Imaging

/// What colour the subject and what lies behind it have where both show through one pixel.
///
/// A pixel of the edge is a mixture: `picture = opacity * subject + (1 - opacity) * background`. Put on another background as it
/// is, it brings the old one along as a rim. So the two colours are taken from their neighbourhoods and then moved until their
/// mixture is the picture again.
///
/// Source: M. Forte, "Approximate Fast Foreground Colour Estimation", ICIP 2021.
package struct EdgeColors: Sendable {
    private static let side = MatteConstants.standard.colorSide
    private static let radii = MatteConstants.standard.colorRadii

    /// What the subject's colour is taken to be, and what that behind it, 0 to 1; both of one size.
    package let subject, background: Grid<SIMD4<Float>>

    /// The size of the grids for pictures of a size.
    package static func size(for picture: PixelSize) -> PixelSize {
        let scale = min(1, Double(side) / Double(max(picture.width, picture.height)))
        return PixelSize(
            width: max(1, Int((Double(picture.width) * scale).rounded())),
            height: max(1, Int((Double(picture.height) * scale).rounded())))
    }

    /// Colours for the edges of a picture, RGB, which has the matte's size.
    init(_ picture: Image, _ matte: Matte) {
        let size = Self.size(for: picture.size)
        let small = picture.shrunk(to: size)
        let opacities = matte.resized(to: size)
        self.init(
            small: Image(size, .rgba) { bytes in
                for index in opacities.indices {
                    for channel in 0..<3 { bytes[4 * index + channel] = small.bytes[3 * index + channel] }
                    bytes[4 * index + 3] = opacities[index]
                }
            })
    }

    /// Colours for the edges of a picture from a copy of the size that `size(for:)` gives.
    ///
    /// - Parameter small: RGBA without row padding: the picture's colours and the matte's opacities, each shrunk for itself.
    package init(small: Image) {
        precondition(small.format == .rgba, "colours and opacities")
        let size = small.size
        func color(_ index: Int) -> SIMD3<Float> {
            SIMD3(Float(small.bytes[4 * index]), Float(small.bytes[4 * index + 1]), Float(small.bytes[4 * index + 2]))
                / 255
        }
        func share(_ index: Int) -> Float { Float(small.bytes[4 * index + 3]) / 255 }
        var front = Grid(size) { (result: UnsafeMutablePointer<SIMD4<Float>>) in
            for index in 0..<size.pixelCount {
                result[index] = SIMD4(color(index) * share(index), share(index))
            }
        }.boxMean(radius: Self.radii.far)
        var back = Grid(size) { (result: UnsafeMutablePointer<SIMD4<Float>>) in
            for index in 0..<size.pixelCount {
                let rest = 1 - share(index)
                result[index] = SIMD4(color(index) * rest, rest)
            }
        }.boxMean(radius: Self.radii.far)
        for index in 0..<size.pixelCount {
            let alpha = share(index)
            let (near, behind) = (Self.color(front.values[index]), Self.color(back.values[index]))
            let rest = color(index) - alpha * near - (1 - alpha) * behind
            front.values[index] = SIMD4(
                (near + alpha * rest).clamped(lowerBound: .zero, upperBound: .one) * alpha, alpha)
            back.values[index] = SIMD4(
                (behind + (1 - alpha) * rest).clamped(lowerBound: .zero, upperBound: .one) * (1 - alpha), 1 - alpha)
        }
        subject = Self.filled(front)
        background = Self.filled(back)
    }

    /// Means from near; where there is nothing near, from farther and farther.
    private static func filled(_ grid: Grid<SIMD4<Float>>) -> Grid<SIMD4<Float>> {
        var result = grid.boxMean(radius: radii.near)
        var radius = radii.near * 4
        while radius <= side, result.values.contains(where: { $0.w < 1e-3 }) {
            let wide = grid.boxMean(radius: radius)
            for index in result.values.indices where result.values[index].w < 1e-3 {
                if wide.values[index].w > 0 {
                    result.values[index] = wide.values[index] / max(wide.values[index].w, 1e-6)
                }
            }
            radius *= 4
        }
        for index in result.values.indices {
            let color = color(result.values[index])
            result.values[index] = SIMD4(color, 1)
        }
        return result
    }

    private static func color(_ weighted: SIMD4<Float>) -> SIMD3<Float> {
        SIMD3(weighted.x, weighted.y, weighted.z) / max(weighted.w, 1e-5)
    }
}

/// Reads the colours of edges at the pixels of a picture, a row at a time.
///
/// Shaders/effect.comp does the same.
package struct EdgeColorSampler {
    private let subject, background: GridSampler

    /// - Parameter size: Of the picture.
    package init(_ colors: EdgeColors, over size: PixelSize) {
        subject = GridSampler(colors.subject, over: size)
        background = GridSampler(colors.background, over: size)
    }

    /// Goes to a row of the picture.
    package func move(toRow y: Int) {
        subject.move(toRow: y)
        background.move(toRow: y)
    }

    /// The two colours at a column of that row, 0 to 1; mixed by the opacity they give the picture's colour.
    ///
    /// - Parameters:
    ///   - color: The picture's, 0 to 1.
    ///   - alpha: Opacity, more than 0 and less than 1.
    @inline(__always)
    package func separated(_ color: SIMD3<Float>, alpha: Float, at x: Int) -> (
        subject: SIMD3<Float>, background: SIMD3<Float>
    ) {
        let near = subject.value(at: x)
        let behind = background.value(at: x)
        let guess = SIMD3(near.x, near.y, near.z)
        let rest = color - alpha * guess - (1 - alpha) * SIMD3(behind.x, behind.y, behind.z)
        // Within what leaves a possible colour for the background.
        let lowest = ((color - (1 - alpha)) / alpha).clamped(lowerBound: .zero, upperBound: .one)
        let highest = (color / alpha).clamped(lowerBound: .zero, upperBound: .one)
        let subject = (guess + alpha * rest).clamped(lowerBound: lowest, upperBound: highest)
        let background = ((color - alpha * subject) / (1 - alpha)).clamped(lowerBound: .zero, upperBound: .one)
        return (subject, background)
    }
}

extension Image {
    /// The colour of a pixel of an RGB picture without row padding, 0 to 1.
    @inline(__always)
    func color(_ index: Int) -> SIMD3<Float> {
        SIMD3(Float(bytes[3 * index]), Float(bytes[3 * index + 1]), Float(bytes[3 * index + 2])) / 255
    }
}

extension SIMD4<Float> {
    @inline(__always)
    init(_ color: SIMD3<Float>, _ last: Float) { self.init(color.x, color.y, color.z, last) }
}
