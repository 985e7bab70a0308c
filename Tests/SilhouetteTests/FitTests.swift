import DeviceSupport
import ModelGraph
import Silhouette
import TestSupport
import Testing

/// Masks at the picture's size, through a network that only tells bright from dark.
@Suite("Masks come back to the right pixels")
struct FitTests {
    private func segmenter(side: Int, fit: Fit, _ change: (inout ImageSegmenterOptions) -> Void = { _ in }) throws
        -> ImageSegmenter
    {
        var options = ImageSegmenterOptions()
        options.fit = fit
        change(&options)
        return try ImageSegmenter(options: options, model: TinyModel.brightness(side: side, threshold: 0.5).model())
    }

    /// Black with a white rectangle.
    private func picture(_ width: Int, _ height: Int, white: PixelRect) throws -> Image {
        var bytes = [UInt8](repeating: 0, count: width * height)
        for y in white.y..<white.y + white.height {
            for x in white.x..<white.x + white.width { bytes[y * width + x] = 255 }
        }
        return try Image(width: width, height: height, format: .gray, bytes: bytes)
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

    /// The edges of the square lie on the network's pixel edges, so that they come back exactly.
    @Test("A square's edges come back where they were, to the pixel", arguments: Fit.allCases)
    func edges(fit: Fit) throws {
        let square = PixelRect(x: 200, y: 200, width: 100, height: 100)
        let mask = try #require(
            try segmenter(side: 50, fit: fit).segment(image: picture(500, 500, white: square)).categoryMask)
        #expect(mask.width == 500 && mask.height == 500)
        #expect(box(mask) == square)
        // Interpolation rounds the corners off, over less than the width of a pixel of the network.
        #expect((9_800...10_000).contains(mask.histogram(classCount: 2)[1]))
    }

    /// Compares one run that gives both sizes of category mask with a run for each.
    private func expectBothSizes(on device: Device, _ model: String, fit: Fit) throws {
        var options = VulkanTests.options()
        options.baseOptions.device = device
        options.fit = fit
        options.maskSize = .model
        options.shouldOutputConfidenceMasks = true
        options.confidenceClasses = [1]
        let modelSize = try ImageSegmenter(options: options, model: Model(path: Checkout.path(model)))
        options.shouldOutputPictureCategoryMask = true
        let both = try ImageSegmenter(options: options, sharing: modelSize)
        options = VulkanTests.options()
        options.fit = fit
        let pictureSize = try ImageSegmenter(options: options, sharing: modelSize)
        for (width, height) in [(150, 101), (40, 64)] {
            let picture = try VulkanTests.picture(width: width, height: height)
            let result = try both.segment(image: picture)
            let expected = try modelSize.segment(image: picture)
            #expect(result.pictureCategoryMask == (try pictureSize.segment(image: picture).categoryMask))
            #expect(result.categoryMask == expected.categoryMask)
            #expect(expected.pictureCategoryMask == nil)
            let planes = try (#require(result.confidenceMasks)[0], #require(expected.confidenceMasks)[0])
            #expect(zip(planes.0.confidences, planes.1.confidences).allSatisfy { abs($0 - $1) < 1e-5 })
        }
    }

    private static let models = ["Tests/Fixtures/mini.safetensors", "Tests/Fixtures/mini-selfie.safetensors"]

    /// Those of which the network makes one mask of its own size.
    private static let singleFits = Fit.allCases.filter { $0 != .tile }

    @Test("A category mask of the picture's size comes with smaller masks, of one run", arguments: models, singleFits)
    func bothSizes(model: String, fit: Fit) throws { try expectBothSizes(on: .cpu, model, fit: fit) }

    @Test("It does on a Vulkan device", .needsVulkan, arguments: models, singleFits)
    func bothSizesOnDevice(model: String, fit: Fit) throws {
        try expectBothSizes(on: .vulkan(.best), model, fit: fit)
    }

    @Test(
        "Wide and tall pictures, letterboxed and cropped",
        arguments: [
            (Fit.letterbox, 800, 400), (.letterbox, 400, 800), (.crop, 800, 400), (.crop, 400, 800),
            (.stretch, 800, 400),
        ])
    func proportions(fit: Fit, width: Int, height: Int) throws {
        let square = PixelRect(x: width / 2 - 80, y: height / 2 - 80, width: 160, height: 160)
        let mask = try #require(
            try segmenter(side: 100, fit: fit).segment(image: picture(width, height, white: square)).categoryMask)
        #expect(mask.width == width && mask.height == height)
        let found = box(mask)
        #expect(abs(found.x - square.x) <= 1 && abs(found.y - square.y) <= 1)
        #expect(abs(found.width - 160) <= 2 && abs(found.height - 160) <= 2)
    }

    @Test("The bars of a letterbox do not bleed into the picture")
    func letterboxEdges() throws {
        // White to the very edge, between grey bars that the network takes for background.
        let white = PixelRect(x: 0, y: 0, width: 640, height: 320)
        let mask = try #require(
            try segmenter(side: 64, fit: .letterbox).segment(image: picture(640, 320, white: white)).categoryMask)
        #expect(mask.categories.allSatisfy { $0 == 1 })
    }

    @Test("What a crop leaves out is background, with no confidence in anything")
    func cropOutside() throws {
        let white = PixelRect(x: 0, y: 0, width: 300, height: 100)
        let result = try segmenter(side: 50, fit: .crop) { $0.shouldOutputConfidenceMasks = true }
            .segment(image: picture(300, 100, white: white))
        let mask = try #require(result.categoryMask)
        #expect(box(mask) == PixelRect(x: 100, y: 0, width: 100, height: 100))
        #expect(mask.histogram(classCount: 2)[1] == 10_000)
        let confidences = try #require(result.confidenceMasks)
        #expect(confidences.allSatisfy { $0.confidences[99] == 0 && $0.confidences[200] == 0 })
        #expect(abs(confidences[0].confidences[150] + confidences[1].confidences[150] - 1) < 1e-6)
    }

    /// A cropped picture is segmented exactly as its middle alone.
    @Test("A crop is the segmentation of the middle", arguments: [(97, 61), (61, 97), (65, 65)])
    func cropIsMiddle(width: Int, height: Int) throws {
        let path = Checkout.path("Tests/Fixtures/mini.safetensors")
        let original = try ImageFile.read(path: Checkout.path("Tests/Fixtures/mini.input.png")).image
            .resized(width: width, height: height)
        let side = min(width, height)
        let (left, top) = ((width - side) / 2, (height - side) / 2)
        var bytes: [UInt8] = []
        for y in top..<top + side {
            let start = y * width + left
            bytes += original.bytes[3 * start..<3 * (start + side)]
        }
        let middle = try Image(width: side, height: side, format: .rgb, bytes: bytes)

        var options = ImageSegmenterOptions()
        options.baseOptions.modelAssetPath = path
        options.shouldOutputConfidenceMasks = true
        options.confidenceClasses = [3]
        let alone = try ImageSegmenter(options: options).segment(image: middle)
        options.fit = .crop
        let cropped = try ImageSegmenter(options: options).segment(image: original)
        let small = try #require(alone.categoryMask)
        let large = try #require(cropped.categoryMask)
        let expected = try #require(alone.confidenceMasks)[0].confidences
        let found = try #require(cropped.confidenceMasks)[0].confidences
        for y in 0..<side {
            let (row, start) = (y * side..<(y + 1) * side, (y + top) * width + left)
            #expect(large.categories[start..<start + side] == small.categories[row])
            #expect(found[start..<start + side] == expected[row])
        }
    }

    @Test("Masks at model size have the network's size, whatever the picture's", arguments: singleFits)
    func modelSize(fit: Fit) throws {
        let result = try segmenter(side: 33, fit: fit) { $0.maskSize = .model }
            .segment(image: picture(100, 7, white: PixelRect(x: 0, y: 0, width: 1, height: 1)))
        #expect(result.width == 33 && result.height == 33)
    }

    @Test("Pictures of one row, one column and one pixel", arguments: Fit.allCases, [(1, 1), (300, 1), (1, 300)])
    func slivers(fit: Fit, size: (Int, Int)) throws {
        let white = PixelRect(x: 0, y: 0, width: size.0, height: size.1)
        let result = try segmenter(side: 16, fit: fit) { options in
            options.shouldOutputConfidenceMasks = true
            options.shouldOutputScores = true
        }.segment(image: picture(size.0, size.1, white: white))
        let mask = try #require(result.categoryMask)
        #expect(mask.categories.count == size.0 * size.1)
        #expect(mask.histogram(classCount: 2)[1] == (fit == .crop ? 1 : size.0 * size.1))
        #expect(try #require(result.scores).values.allSatisfy(\.isFinite))
    }
}
