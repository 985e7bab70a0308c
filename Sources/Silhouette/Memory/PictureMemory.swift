import Imaging

/// The most memory that a picture takes on its way from one file to another on the processor, computed from what is to be done
/// before any of it is taken.
///
/// A stage's bytes are those of what is in memory at once, counted by the pixel; the most of all stages counts. Files that are made
/// count as if nothing in them could be compressed. The network's own memory, taken once, and a device's are not in it.
package struct PictureMemory: Sendable {
    /// What is made of a picture.
    package enum Output: Sendable {
        /// The class of each pixel, by the network or with an effect's edge.
        case categories(edges: EdgeOptions?)
        /// A grey picture for each of so many classes, or one for all of them.
        case confidences(count: Int, files: Int)
        /// The network's output.
        case scores
        case effect(EffectOptions)
    }

    private let output: Output
    private let masks: MaskSize
    private let fit: Fit
    private let tileSide: Int?
    private let format: ImageFormat
    private let model: ModelOutput

    /// - Parameters:
    ///   - tileSide: As in `ImageSegmenterOptions`.
    ///   - format: Of the file that is made.
    ///   - model: Of the network.
    package init(
        _ output: Output, masks: MaskSize, fit: Fit, tileSide: Int? = nil, format: ImageFormat, model: ModelOutput
    ) {
        self.output = output
        self.masks = masks
        self.fit = fit
        self.tileSide = tileSide
        self.format = format
        self.model = model
    }

    /// Tables of resizing and sampling, threads, and pieces of files: what does not grow with the picture.
    private static let fixedByteCount = 24 << 20

    /// Bytes for a picture of which a file's header says this.
    ///
    /// - Parameter keptByteCount: Bytes that stay for all that time: a request's body, which has the file in it. 0: the file goes
    ///   when it is decoded.
    package func byteCount(_ claim: PictureClaim, keptByteCount: Int = 0) -> Int {
        let picture = claim.pictureByteCount
        let file = keptByteCount > 0 ? 0 : claim.fileByteCount
        return Self.fixedByteCount + keptByteCount
            + max(file + picture + claim.workingByteCount, picture + segmenting(claim), picture + finishing(claim))
    }

    /// Bytes of a result that stay until the file is made.
    private func result(_ pixels: Int) -> Int {
        let places = masks == .source ? pixels : model.size.pixelCount
        return switch output {
        case .categories(nil): places
        case .categories, .effect: pixels
        case .confidences(let count, _): 4 * count * places
        case .scores: 4 * model.channels * places
        }
    }

    private func segmenting(_ claim: PictureClaim) -> Int {
        let pixels = claim.size.pixelCount
        let map = subjectMap(claim.size)
        guard fit == .tile else { return result(pixels) + map }
        // Masks grow outside of the arrays that they are copied to; no tile is larger than the picture, and the network's output is
        // kept for three rows of them.
        let kept = min(TileGrid.tileLimit, 24) * model.size.pixelCount * model.channels * MemoryLayout<Float>.size
        return 2 * result(pixels) + claim.pictureByteCount / 2 + kept + map
    }

    /// What edges are looked for from: margins, confidences and classes at the network's resolution, of all tiles together.
    private func subjectMap(_ size: PixelSize) -> Int {
        let edges: EdgeOptions? =
            switch output {
            case .categories(let edges): edges
            case .effect(let options): options.drawnEdges
            case .confidences, .scores: nil
            }
        guard edges != nil else { return 0 }
        let places =
            grid(size).map { grid in
                let across = Double(grid.columns.length) / Double(grid.columns.tile) * Double(model.size.width)
                let down = Double(grid.rows.length) / Double(grid.rows.tile) * Double(model.size.height)
                return Int((across + 1) * (down + 1))
            } ?? model.size.pixelCount
        // As they are computed, and as they are kept.
        return 14 * places
    }

    /// The tiles. Nil: there are none.
    private func grid(_ size: PixelSize) -> TileGrid? {
        guard fit == .tile else { return nil }
        return try? TileGrid(picture: size, network: model.inputSize, side: tileSide)
    }

    private func finishing(_ claim: PictureClaim) -> Int {
        let pixels = claim.size.pixelCount
        let places = masks == .source ? pixels : model.size.pixelCount
        let result = result(pixels)
        switch output {
        case .scores: return result
        case .confidences(let count, let files):
            // Every file is made before the first is written.
            return result + files * places + 2 * places + (files < count ? 4 * places : 0)
        case .categories(nil):
            // Neighbours are alike: the network has a few places where the picture has thousands of pixels.
            return result + places + encoded(places / 4)
        case .categories(let edges?):
            // Matte, likeliest classes, those of all pixels, or those and the mask.
            return max(result + matte(claim, edges) + subjectMap(claim.size), result + 4 * pixels)
        case .effect(let options): return effect(options, claim)
        }
    }

    /// While a matte is made.
    private func matte(_ claim: PictureClaim, _ edges: EdgeOptions) -> Int {
        let pixels = claim.size.pixelCount
        let flat = claim.channelCount == 4 ? 3 * pixels : 0
        // Planes of a disc's filter.
        let moved = edges.shift == 0 ? 0 : 6 * pixels
        return max(guideByteCount(claim.size, edges), pixels + max(flat, moved))
    }

    /// The small picture that edges are looked for in, and what a guided filter makes of it.
    private func guideByteCount(_ size: PixelSize, _ edges: EdgeOptions) -> Int {
        guard edges.source == .guided else { return 0 }
        // A photograph may be stored on its side.
        let turned = PixelSize(width: size.height, height: size.width)
        return EdgeGuide.byteCount(size, leastCell: max(1, min(leastCell(size), leastCell(turned))))
    }

    /// Pixels of the picture between two scores of the network, at least.
    private func leastCell(_ size: PixelSize) -> Float {
        let grid = grid(size)
        let across = Float(grid?.columns.tile ?? size.width) / Float(model.scoreSize.width)
        let down = Float(grid?.rows.tile ?? size.height) / Float(model.scoreSize.height)
        return fit == .crop || grid != nil ? min(across, down) : max(across, down)
    }

    private func effect(_ options: EffectOptions, _ claim: PictureClaim) -> Int {
        let pixels = claim.size.pixelCount
        let flat = claim.channelCount == 4 ? 3 * pixels : 0
        let edges = options.drawnEdges
        let making = edges.map { matte(claim, $0) } ?? 0
        var (drawing, kept, drawn) = (0, pixels, 3 * pixels)
        switch options.effect {
        case .overlay(let style):
            // Classes, or those and the likeliest ones.
            drawing = pixels + drawn + (edges == nil ? 0 : 2 * pixels)
            if edges != nil { drawing = max(drawing, 4 * pixels) }
            if style.outline > 0 { drawing = max(drawing + pixels, (edges == nil ? 1 : 3) * pixels + 5 * pixels) }
        case .cutout:
            drawn = 4 * pixels
            drawing = pixels + pixels + flat + drawn
        case .composite(let background):
            drawing = 2 * pixels + flat + drawn + (flat > 0 ? pixels : 0)
            switch background {
            case .gray, .dim: break
            case .color, .gradient, .picture:
                kept += 3 * pixels
                drawing += 3 * pixels
                if case .picture(let image, _) = background { drawing += 3 * image.size.pixelCount }
            case .blur:
                let places = PixelPassPlan(claim.size, over: background).blur?.size.pixelCount ?? 0
                drawing = max(drawing + 3 * pixels + 16 * places, 2 * pixels + flat + 4 * pixels + 64 * places)
            }
        }
        return max(pixels + making + subjectMap(claim.size), drawing, kept + drawn + encoded(drawn, pixels: pixels))
    }

    /// While a file is made of so many bytes, and while that is copied.
    private func encoded(_ byteCount: Int, pixels: Int = 0) -> Int {
        switch format {
        case .png, .npy: 2 * byteCount
        // What TurboJPEG keeps for the worst of pictures, and a copy of the file at quality 92.
        case .jpeg: 9 * pixels
        // Planes, macroblocks and tokens; alpha is compressed without loss.
        case .webp: (byteCount > 3 * pixels ? 36 : 22) * pixels
        }
    }
}
