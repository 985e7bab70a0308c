import CPUBackend
import ModelGraph

/// Segments pictures tile by tile, on any engine: each tile is a picture to it, whose scores are asked for at the network's
/// size. Masks are made of them on the processor, strip by strip, while the tiles come.
final class TiledSegmentation: Sendable {
    private let backend: CPUBackend
    private let request: MaskRequest
    private let tileRequest: MaskRequest
    private let side: Int?

    /// - Parameters:
    ///   - request: What is asked for.
    ///   - side: The shorter side of a tile. Nil: as the picture allows.
    ///   - threads: Threads that blend. Nil: one for each core.
    init(_ request: MaskRequest, side: Int?, threads: Int?) throws(ImageSegmenterError) {
        do throws(CPUBackendError) {
            backend = try CPUBackend(threads: threads)
        } catch {
            throw .unusableDevice("\(error)")
        }
        self.request = request
        tileRequest = try request.forTiles()
        self.side = side
    }

    /// Makes the masks of a picture.
    ///
    /// - Parameters:
    ///   - segment: Runs the engine.
    ///   - blend: Calls its argument, once, on a thread that may blend.
    func segment(
        _ image: Image, blend: (() -> Void) -> Void = { $0() },
        segment: (Image, MaskRequest) throws(ImageSegmenterError) -> Masks
    ) throws(ImageSegmenterError) -> Masks {
        _ = try request.maskSize(of: image.size)
        let grid = try TileGrid(picture: image.size, network: request.output.inputSize, side: side)
        guard !grid.isSingle else { return try segment(image, request.stretched) }

        let output = request.output
        try grid.check(output)
        let blender = TileBlender(
            rows: grid.rows, columns: grid.columns,
            target: Extent(height: image.height, width: image.width),
            output: Shape(height: output.size.height, width: output.size.width, channels: output.channels),
            outputsLogits: output.isLogits, backend: backend)
        let memory = MaskMemory(request, image.size)
        let subject = request.subjectClasses == nil ? nil : TiledSubject(request, grid, backend)
        var tiles = TileScores()
        var timings = Timings(preprocessMilliseconds: 0, inferenceMilliseconds: 0, postprocessMilliseconds: 0)
        var deviceName = ""
        // Along the longer side of the grid, so that the fewest scores are kept.
        let isWide = grid.columns.starts.count >= grid.rows.starts.count
        let (long, short) = isWide ? (grid.columns, grid.rows) : (grid.rows, grid.columns)
        for index in long.starts.indices {
            for other in short.starts.indices {
                let (row, column) = isWide ? (other, index) : (index, other)
                let masks = try segment(image.cropped(to: grid.rect(row: row, column: column)), tileRequest)
                tiles[row, column] = masks.scores?.values ?? []
                timings.add(masks.timings)
                deviceName = masks.deviceName
            }
            let start = ContinuousClock.now
            blend {
                blender.blend(index, isColumn: isWide, of: tiles, into: memory.destination)
                subject?.blend(index, isColumn: isWide, of: tiles)
            }
            tiles.forget(upTo: index, isColumn: isWide, of: long)
            timings.postprocessMilliseconds += (ContinuousClock.now - start) / .milliseconds(1)
        }
        var masks = memory.masks(deviceName, timings)
        masks.subject = subject?.map
        return masks
    }
}

/// Where masks grow.
private final class MaskMemory {
    private let request: MaskRequest
    private let size: PixelSize
    private let categories: UnsafeMutableBufferPointer<UInt8>?
    private let confidences: [FloatBuffer]
    private let scores: FloatBuffer?

    init(_ request: MaskRequest, _ size: PixelSize) {
        self.request = request
        self.size = size
        let count = size.pixelCount
        categories =
            request.wantsCategories || request.wantsPictureCategories ? .allocate(capacity: count) : nil
        categories?.initialize(repeating: 0)
        confidences = request.confidenceClasses.map { _ in FloatBuffer(count: count) }
        scores = request.wantsScores ? FloatBuffer(count: count * request.output.channels) : nil
    }

    deinit { categories?.deallocate() }

    var destination: BlendOutputs {
        var destination = BlendOutputs()
        destination.categories = categories
        destination.confidences = zip(request.confidenceClasses, confidences).map { ($0, $1.mutableValues) }
        destination.scores = scores?.mutableValues
        return destination
    }

    func masks(_ deviceName: String, _ timings: Timings) -> Masks {
        let (width, height) = (size.width, size.height)
        var masks = Masks(width: width, height: height, deviceName: deviceName, timings: timings)
        if let categories {
            let mask = CategoryMask(width: width, height: height, categories: Array(categories))
            if request.wantsCategories { masks.categories = mask }
            if request.wantsPictureCategories { masks.pictureCategories = mask }
        }
        if request.wantsConfidences {
            masks.confidences = zip(request.confidenceClasses, confidences).map {
                ConfidenceMask(classIndex: $0, width: width, height: height, confidences: Array($1.values))
            }
        }
        masks.scores = scores.map {
            ScoreMap(width: width, height: height, channels: request.output.channels, values: Array($0.values))
        }
        return masks
    }
}

extension Timings {
    fileprivate mutating func add(_ other: Timings) {
        preprocessMilliseconds += other.preprocessMilliseconds
        inferenceMilliseconds += other.inferenceMilliseconds
        postprocessMilliseconds += other.postprocessMilliseconds
    }
}
