import Imaging

/// The opacity of a subject at each pixel of a picture: 0 is background, 255 subject, in between is the edge.
package struct Matte: Hashable, Sendable {
    /// Columns and rows.
    package let size: PixelSize
    /// Opacities, row by row without padding.
    package internal(set) var opacities: [UInt8]

    /// Creates a matte; the number of opacities must fit.
    package init(size: PixelSize, opacities: [UInt8]) {
        precondition(opacities.count == size.pixelCount, "opacities of another size")
        self.size = size
        self.opacities = opacities
    }

    /// The opacity at a pixel.
    package subscript(x: Int, y: Int) -> UInt8 {
        precondition((0..<size.width).contains(x) && (0..<size.height).contains(y))
        return opacities[y * size.width + x]
    }

    /// The matte as a gray picture.
    package var image: Image { Image(size, .gray) { _ = $0.update(fromContentsOf: opacities) } }
}

/// A picture at the size at which its edges are looked for, and the subject's confidences there.
package struct EdgeGuide: Sendable {
    /// The picture, small; RGB.
    package let picture: Image
    /// Confidences at the same size.
    package var confidences: [Float]
    /// Places that are looked at around each one.
    package let radius: Int

    /// Places around each one at the size that the edges are looked for: a larger radius finds no better edges, but costs more.
    private static let workingRadius: Float = 8
    /// Pixels that edges are looked for in: the filter takes 160 bytes for each.
    private static let workingPixelLimit: Float = 1_500_000
    /// How far around the network's edge the true one is looked for, in cells of the network.
    private static let reach: Float = 1.2

    /// Makes a picture small enough for edges to be looked for in it.
    ///
    /// - Parameter source: Guided: so that the network's cells are some places wide. Plain: as large as the map, as the picture
    ///   says nothing then.
    package init(_ picture: Image, _ map: SubjectMap, for source: EdgeOptions.Source = .guided) {
        let radius = max(1, Self.reach * map.cell)
        let scale = min(
            1, Self.workingRadius / radius, (Self.workingPixelLimit / Float(picture.size.pixelCount)).squareRoot())
        let size =
            switch source {
            case .guided:
                PixelSize(
                    width: max(1, Int((Float(picture.width) * scale).rounded())),
                    height: max(1, Int((Float(picture.height) * scale).rounded())))
            case .plain:
                PixelSize(
                    width: min(picture.width, map.size.width), height: min(picture.height, map.size.height))
            }
        self.radius = max(1, Int((radius * scale).rounded()))
        self.picture = picture.shrunk(to: size)
        confidences = map.sampled(at: size).values
    }

    /// Bytes at most for a guided filter of a picture.
    ///
    /// - Parameter leastCell: No less than this is the map's `cell`.
    package static func byteCount(_ picture: PixelSize, leastCell: Float) -> Int {
        let scale = min(1, workingRadius / max(1, reach * leastCell))
        let places = min(Float(picture.pixelCount) * scale * scale, workingPixelLimit)
        return 160 * (Int(places) + picture.width + picture.height)
    }

    /// What the subject's opacity at the picture's size is made from.
    ///
    /// - Parameter picture: The picture that this was made of.
    package func matteSource(of picture: Image, _ options: EdgeOptions) -> MatteSource {
        let map = Grid(self.picture.size, confidences)
        let functions =
            switch options.source {
            case .guided: GuidedFilter(guide: self.picture, radius: radius).functions(for: map)
            case .plain: Grid(map.size, map.values.map { SIMD4(0, 0, 0, $0) })
            }
        let source = MatteSource.functions(functions, MatteRamp(threshold: options.threshold))
        guard options.shift != 0 || options.feather > 0 else { return source }
        // These look at whole neighbourhoods.
        var matte = source.matte(of: picture)
        if options.shift != 0 { matte.grow(by: options.shift) }
        if options.feather > 0 { matte.feather(by: options.feather) }
        return .plane(matte)
    }

    /// The subject's opacity at the picture's size.
    ///
    /// - Parameter picture: The picture that this was made of.
    package func matte(of picture: Image, _ options: EdgeOptions) -> Matte {
        matteSource(of: picture, options).matte(of: picture)
    }
}

extension Image {
    /// The picture in RGB at another size; transparent parts count as white.
    func shrunk(to target: PixelSize) -> Image {
        if target == size { return flattened() }
        let resizer = Resizer(from: size, to: target, format: .rgb)
        return withView { view in Image(target, .rgb) { resizer.resize(view, into: $0) } }
    }
}
