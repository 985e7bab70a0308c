import DeviceSupport
import ModelGraph
import Silhouette
import TestSupport
import Testing

@Suite("Tiles")
struct TileTests {
    private func options(on device: Device = .cpu, _ change: (inout ImageSegmenterOptions) -> Void = { _ in })
        -> ImageSegmenterOptions
    {
        var options = VulkanTests.options()
        options.baseOptions.device = device
        options.baseOptions.threadCount = 2
        options.fit = .tile
        change(&options)
        return options
    }

    /// Black with a white rectangle.
    private func picture(_ width: Int, _ height: Int, white: PixelRect) throws -> Image {
        var bytes = [UInt8](repeating: 0, count: width * height)
        for y in white.y..<white.y + white.height {
            for x in white.x..<white.x + white.width { bytes[y * width + x] = 255 }
        }
        return try Image(width: width, height: height, format: .gray, bytes: bytes)
    }

    private static let sizes = [
        PixelSize(width: 600, height: 600), PixelSize(width: 640, height: 480), PixelSize(width: 311, height: 937),
        PixelSize(width: 1600, height: 300), PixelSize(width: 240, height: 1700), PixelSize(width: 1203, height: 1001),
    ]

    /// Looks for a square in a picture by each fit: where it is, to half a pixel of the network.
    private func expectSquare(on device: Device, _ size: PixelSize) throws {
        let side = 64
        let small = min(size.width, size.height)
        let edge = small / 3
        for fit in Fit.allCases {
            let segmenter = try ImageSegmenter(
                options: options(on: device) { $0.fit = fit },
                model: TinyModel.brightness(side: side, threshold: 0.5).model())
            // In the middle for a crop; for the others in a corner, beside the middle and over the seams of tiles, too.
            let middle = (size.width / 2 - edge / 2, size.height / 2 - edge / 2)
            let others = [
                (0, 0), (size.width - edge, size.height - edge), (size.width / 3, size.height / 4),
                (size.width * 3 / 5, size.height / 2),
            ]
            for (x, y) in [middle] + (fit == .crop ? [] : others) {
                let square = PixelRect(
                    x: min(x, size.width - edge), y: min(y, size.height - edge), width: edge, height: edge)
                let mask = try #require(
                    try segmenter.segment(image: picture(size.width, size.height, white: square)).categoryMask)
                #expect(mask.width == size.width && mask.height == size.height)
                let found = box(mask)
                let geometry = FitGeometry(fit, picture: size, network: PixelSize(width: side, height: side))
                let across = max(
                    1, (geometry.source.width + 2 * geometry.target.width - 1) / (2 * geometry.target.width))
                let down = max(
                    1, (geometry.source.height + 2 * geometry.target.height - 1) / (2 * geometry.target.height))
                let name = "\(fit) \(size) \(square): \(found)"
                #expect(abs(found.x - square.x) <= across && abs(found.y - square.y) <= down, "\(name)")
                #expect(abs(found.x + found.width - square.x - edge) <= across, "\(name)")
                #expect(abs(found.y + found.height - square.y - edge) <= down, "\(name)")
                let area = Double(mask.histogram(classCount: 2)[1]) / Double(edge * edge)
                #expect(area > 0.85 && area < 1.15, "\(name)")
            }
        }
    }

    /// The bounding box of class 1.
    private func box(_ mask: CategoryMask) -> PixelRect {
        let found = mask.categories.indices.filter { mask.categories[$0] == 1 }
        let columns = found.map { $0 % mask.width }
        let rows = found.map { $0 / mask.width }
        guard let left = columns.min(), let right = columns.max(), let top = rows.min(), let bottom = rows.max() else {
            return PixelRect(x: 0, y: 0, width: 0, height: 0)
        }
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }

    @Test("A square comes back to its pixels by every fit, in pictures of all proportions", arguments: sizes)
    func square(size: PixelSize) throws { try expectSquare(on: .cpu, size) }

    @Test("It does on a Vulkan device", .needsVulkan, arguments: sizes)
    func squareOnDevice(size: PixelSize) throws { try expectSquare(on: .vulkan(.best), size) }

    @Test("What is too small for the network in the whole picture is found in tiles")
    func smallThings() throws {
        let model = try TinyModel.brightness(side: 32, threshold: 0.5).model()
        let dot = PixelRect(x: 700, y: 30, width: 12, height: 12)
        let picture = try picture(1024, 64, white: dot)
        let whole = try ImageSegmenter(options: options { $0.fit = .stretch }, model: model).segment(image: picture)
        #expect(try #require(whole.categoryMask).histogram(classCount: 2)[1] == 0)
        let tiled = try ImageSegmenter(options: options(), model: model).segment(image: picture)
        let found = box(try #require(tiled.categoryMask))
        #expect(abs(found.x - 700) <= 1 && abs(found.y - 30) <= 1 && abs(found.width - 12) <= 2)
    }

    @Test("A picture of the network's proportions is a single tile: the same bytes as stretched")
    func singleTile() throws {
        let picture = try VulkanTests.picture(width: 120, height: 100)
        func result(_ fit: Fit) throws -> ImageSegmenterResult {
            try ImageSegmenter(
                options: options {
                    $0.fit = fit
                    $0.shouldOutputConfidenceMasks = true
                    $0.shouldOutputScores = true
                }, model: VulkanTests.model
            ).segment(image: picture)
        }
        let (tiled, stretched) = try (result(.tile), result(.stretch))
        #expect(tiled.categoryMask == stretched.categoryMask)
        #expect(tiled.confidenceMasks == stretched.confidenceMasks)
        #expect(tiled.scores == stretched.scores)
    }

    private static let models = ["mini", "mini-selfie"].map { "Tests/Fixtures/\($0).safetensors" }

    /// Categories, confidences and scores of one run, and whether they fit together.
    private func consistent(_ model: Model, _ picture: Image, on device: Device) throws -> ImageSegmenterResult {
        let segmenter = try ImageSegmenter(
            options: options(on: device) {
                $0.shouldOutputConfidenceMasks = true
                $0.shouldOutputScores = true
            }, model: model)
        let result = try segmenter.segment(image: picture)
        let mask = try #require(result.categoryMask)
        let confidences = try #require(result.confidenceMasks)
        #expect(result.size == picture.size && confidences.count == model.labels.count)
        #expect(try #require(result.scores).values.count == picture.size.pixelCount * result.scores!.channels)
        var wrongCount = 0
        for pixel in 0..<picture.size.pixelCount {
            let values = confidences.map { $0.confidences[pixel] }
            let isSure = values[Int(mask.categories[pixel])] > (values.max() ?? 0) - 1e-5
            if !isSure || abs(values.reduce(0, +) - 1) > 1e-4 { wrongCount += 1 }
        }
        #expect(wrongCount == 0)
        return result
    }

    @Test("Masks of all kinds agree, for one channel as for many", arguments: models)
    func kinds(model: String) throws {
        _ = try consistent(
            Model(path: Checkout.path(model)), VulkanTests.picture(width: 170, height: 60), on: .cpu)
    }

    @Test("A Vulkan device gives what the processor gives", .needsVulkan, arguments: models)
    func device(model: String) throws {
        let model = try Model(path: Checkout.path(model))
        let picture = try VulkanTests.picture(width: 70, height: 190)
        let expected = try consistent(model, picture, on: .cpu)
        let found = try consistent(model, picture, on: .vulkan(.best))
        let (values, others) = try (#require(found.scores).values, #require(expected.scores).values)
        #expect(zip(values, others).allSatisfy { abs($0 - $1) < 2e-3 })
        let (mask, other) = try (#require(found.categoryMask).categories, #require(expected.categoryMask).categories)
        #expect(zip(mask, other).count { $0 != $1 } <= mask.count / 1000)
    }

    @Test("The number of threads changes no byte, and a picture that can wait has the same masks")
    func threads() throws {
        let picture = try VulkanTests.picture(width: 300, height: 90)
        func segmenter(_ threads: Int) throws -> ImageSegmenter {
            try ImageSegmenter(
                options: options {
                    $0.baseOptions.threadCount = threads
                    $0.shouldOutputConfidenceMasks = true
                    $0.confidenceClasses = [15, 0]
                }, model: VulkanTests.model)
        }
        let alone = try segmenter(1).segment(image: picture)
        let together = try segmenter(3).segment(image: picture)
        #expect(alone.categoryMask == together.categoryMask && alone.confidenceMasks == together.confidenceMasks)
        let background = try segmenter(2).segment(
            image: picture, inBackground: BackgroundWork(onDevice: { $0() }, inBackground: { $0() }))
        #expect(background.categoryMask == alone.categoryMask && background.confidenceMasks == alone.confidenceMasks)
        #expect(alone.timings.inferenceMilliseconds > 0 && alone.timings.postprocessMilliseconds > 0)
    }

    /// What an effect makes of a wide picture, on a device.
    private func cutout(on device: Device, edges: EdgeOptions.Source, white: PixelRect) throws -> Image {
        let segmenter = try ImageSegmenter(
            options: options(on: device), model: TinyModel.brightness(side: 64, threshold: 0.5).model())
        let renderer = try EffectRenderer(
            options: EffectOptions(.cutout, edges: EdgeOptions(source: edges)), segmenter: segmenter)
        return try renderer.render(image: picture(900, 200, white: white))
    }

    private func expectCutout(on device: Device) throws {
        for source in EdgeOptions.Source.allCases {
            for white in [(0, 0), (400, 70), (830, 130)].map({ PixelRect(x: $0.0, y: $0.1, width: 70, height: 70) }) {
                let cutout = try cutout(on: device, edges: source, white: white)
                #expect(cutout.format == .rgba && cutout.size == PixelSize(width: 900, height: 200))
                let shown = (0..<900 * 200).filter { cutout.bytes[4 * $0 + 3] >= 128 }
                let (columns, rows) = (shown.map { $0 % 900 }, shown.map { $0 / 900 })
                for (found, wanted) in [
                    (columns.min(), white.x), (columns.max(), white.x + 69), (rows.min(), white.y),
                    (rows.max(), white.y + 69),
                ] {
                    #expect(abs((found ?? -99) - wanted) <= 2, "\(source) \(white): \(found ?? -99), not \(wanted)")
                }
                #expect(shown.count > 4300 && shown.count < 5500, "\(source) \(white): \(shown.count)")
            }
        }
    }

    @Test("A cut-out of a wide picture shows the square where it is")
    func effects() throws { try expectCutout(on: .cpu) }

    @Test("It does on a Vulkan device", .needsVulkan)
    func effectsOnDevice() throws { try expectCutout(on: .vulkan(.best)) }

    @Test("An overlay of tiles shows their category mask")
    func overlay() throws {
        let picture = try VulkanTests.picture(width: 190, height: 60)
        let segmenter = try ImageSegmenter(options: options(), model: VulkanTests.model)
        let mask = try #require(try segmenter.segment(image: picture).categoryMask)
        let overlay = try EffectRenderer(options: EffectOptions(.overlay(OverlayStyle())), segmenter: segmenter)
            .render(image: picture)
        let expected = mask.categories.withUnsafeBufferPointer {
            Compositing.overlay(picture, categories: $0, palette: segmenter.palette)
        }
        #expect(overlay == expected && overlay != picture)
    }

    @Test("Tiles are few, overlap, and have the network's proportions")
    func grid() throws {
        func counts(
            _ width: Int, _ height: Int, _ network: PixelSize = PixelSize(width: 257, height: 257), side: Int? = nil
        )
            throws -> [Int]
        {
            let grid = try TileGrid(picture: PixelSize(width: width, height: height), network: network, side: side)
            #expect(grid.rows.length == height && grid.columns.length == width)
            return [grid.columns.starts.count, grid.rows.starts.count]
        }
        #expect(try counts(500, 500) == [1, 1])
        #expect(try counts(600, 500) == [1, 1])
        #expect(try counts(2056, 2056) == [1, 1])
        #expect(try counts(640, 480) == [2, 1])
        #expect(try counts(480, 640) == [1, 2])
        #expect(try counts(1920, 1080) == [3, 1])
        #expect(try counts(4032, 3024) == [3, 2])
        #expect(try counts(1920, 1080, PixelSize(width: 256, height: 144)) == [1, 1])
        #expect(try counts(640, 480, side: 200) == [4, 3])
        #expect(try counts(640, 480, side: 100_000) == [1, 1])
        for (width, height) in [(10_000, 10_000), (60_000, 3), (1, 65_535), (65_535, 1_500), (1, 1), (2, 1)] {
            let found = try counts(width, height)
            #expect((1...TileGrid.tileLimit).contains(found[0] * found[1]), "\(width)x\(height): \(found)")
        }
        #expect(throws: ImageSegmenterError.tooManyTiles(width: 640, height: 480, tileSide: 16, limit: 48)) {
            try counts(640, 480, side: 16)
        }
        #expect(throws: ImageSegmenterError.self) { try counts(65_535, 65_535, side: 1) }
    }

    @Test("What tiles cannot have is refused, in one line")
    func refusals() throws {
        for change: (inout ImageSegmenterOptions) -> Void in [
            { $0.maskSize = .model }, { $0.tileSide = 0 }, { $0.tileSide = -5 },
            {
                $0.fit = .stretch
                $0.tileSide = 100
            },
        ] {
            let error = #expect(throws: ImageSegmenterError.self) {
                try ImageSegmenter(options: options(on: .cpu, change), model: VulkanTests.model)
            }
            guard case .invalidOptions(let reason)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(!reason.isEmpty && !reason.contains("\n"))
        }
        let segmenter = try ImageSegmenter(options: options { $0.tileSide = 16 }, model: VulkanTests.model)
        #expect(throws: ImageSegmenterError.tooManyTiles(width: 400, height: 300, tileSide: 16, limit: 48)) {
            try segmenter.segment(image: VulkanTests.picture(width: 400, height: 300))
        }
        // It goes on with others.
        #expect(try segmenter.segment(image: VulkanTests.picture(width: 40, height: 30)).width == 40)
    }
}
