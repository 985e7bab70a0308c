import Foundation
import ModelGraph
import Silhouette
import TestSupport
import Testing

@Suite("Segmentation of generated networks")
struct SegmentationTests {
    private func fixture(_ name: String) -> String { Checkout.path("Tests/Fixtures/" + name) }

    private func segmenter(_ model: String, _ change: (inout ImageSegmenterOptions) -> Void = { _ in }) throws
        -> ImageSegmenter
    {
        var options = ImageSegmenterOptions()
        options.baseOptions.modelAssetPath = fixture(model)
        options.maskSize = .model
        change(&options)
        return try ImageSegmenter(options: options)
    }

    @Test("The mini network's labels are ONNX Runtime's, pixel by pixel")
    func miniLabels() throws {
        let result = try segmenter("mini.safetensors").segment(
            image: ImageFile.read(path: fixture("mini.input.png")).image)
        let expected = try ImageFile.readLabels(path: fixture("mini.labels.png"))
        let mask = try #require(result.categoryMask)
        #expect(mask.width == expected.width && mask.height == expected.height)
        #expect(mask.categories == expected.bytes)
        #expect(Set(mask.categories).count > 2)
        #expect(result.confidenceMasks == nil && result.scores == nil && result.timestampInMilliseconds == nil)
        #expect(result.labels.count == 21)
    }

    @Test("Segmenters that share a model each give what their own options ask for, at once, too")
    func sharing() async throws {
        let pictures = try ["mini.input.png"].map { try ImageFile.read(path: fixture($0)).image }
        let categories = try segmenter("mini.safetensors")
        var options = ImageSegmenterOptions()
        options.shouldOutputCategoryMask = false
        options.shouldOutputConfidenceMasks = true
        options.confidenceClasses = [2, 0]
        let confidences = try ImageSegmenter(options: options, sharing: categories)
        let alone = try segmenter("mini.safetensors") {
            $0 = options
            $0.baseOptions.modelAssetPath = fixture("mini.safetensors")
        }
        let first = try categories.segment(image: pictures[0])
        let second = try alone.segment(image: pictures[0])
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<12 {
                group.addTask {
                    index % 2 == 0
                        ? try categories.segment(image: pictures[0]).categoryMask == first.categoryMask
                        : try confidences.segment(image: pictures[0]).confidenceMasks == second.confidenceMasks
                }
            }
            for try await isSame in group { #expect(isSame) }
        }
        #expect(confidences.labels == categories.labels && confidences.deviceName == categories.deviceName)
        options.confidenceClasses = [99]
        #expect(throws: ImageSegmenterError.invalidOptions("class 99 does not exist: the model has 21 classes")) {
            try ImageSegmenter(options: options, sharing: categories)
        }
    }

    @Test("A picture that can wait has the same masks", arguments: [MaskSize.source, .model])
    func background(size: MaskSize) throws {
        let segmenter = try segmenter("mini.safetensors") {
            $0.baseOptions.device = .cpu
            $0.maskSize = size
            $0.shouldOutputPictureCategoryMask = true
            $0.shouldOutputConfidenceMasks = true
            $0.shouldOutputScores = true
        }
        let picture = try ImageFile.read(path: fixture("mini.input.png")).image.resized(width: 150, height: 90)
        var steps: [String] = []
        let work = BackgroundWork(
            onDevice: {
                steps.append("device")
                $0()
            },
            inBackground: {
                steps.append("background")
                $0()
            })
        let expected = try segmenter.segment(image: picture)
        let result = try segmenter.segment(image: picture, inBackground: work)
        #expect(steps == ["background", "device", "background"])
        #expect(result.categoryMask == expected.categoryMask)
        #expect(result.pictureCategoryMask == expected.pictureCategoryMask)
        #expect(result.confidenceMasks == expected.confidenceMasks)
        #expect(result.scores?.values == expected.scores?.values)
    }

    @Test("The mini network's scores are ONNX Runtime's, resized as the model says")
    func miniScores() throws {
        let segmenter = try segmenter("mini.safetensors") { $0.shouldOutputScores = true }
        let result = try segmenter.segment(image: ImageFile.read(path: fixture("mini.input.png")).image)
        let scores = try #require(result.scores)
        let small = try NPYFile(path: fixture("mini.scores.npy"))
        #expect(small.shape == [9, 9, 21])
        let taps = ResizeConvention.alignCorners.taps(from: 9, to: 65)
        var largest = 0.0
        for (y, row) in taps.enumerated() {
            for (x, column) in taps.enumerated() {
                for channel in 0..<21 {
                    func at(_ y: Int, _ x: Int) -> Double { Double(small.values[(y * 9 + x) * 21 + channel]) }
                    let top =
                        at(row.first, column.first) * (1 - column.share) + at(row.first, column.second) * column.share
                    let bottom =
                        at(row.second, column.first) * (1 - column.share) + at(row.second, column.second) * column.share
                    let expected = top * (1 - row.share) + bottom * row.share
                    largest = max(largest, abs(Double(scores.values[(y * 65 + x) * 21 + channel]) - expected))
                }
            }
        }
        #expect(largest < 2e-3)
    }

    @Test("A model may have as many classes as a map has channels: a confidence mask for each, in order")
    func manyClasses() throws {
        let count = 60_000
        var bias = [Float](repeating: 0, count: count)
        bias[43_210] = 20
        let model = try TinyModel(
            width: 2, height: 2, weights: [[Float]](repeating: [0], count: count), bias: bias, order: "GRAY"
        ).model()
        var options = ImageSegmenterOptions()
        options.shouldOutputCategoryMask = false
        options.shouldOutputConfidenceMasks = true
        let masks = try ImageSegmenter(options: options, model: model).segment(
            image: Image(width: 2, height: 2, format: .gray, bytes: [0, 1, 2, 3])
        ).confidenceMasks
        #expect(masks?.map(\.classIndex) == Array(0..<count))
        #expect(masks?.filter { $0.confidences.allSatisfy { $0 > 0.5 } }.map(\.classIndex) == [43_210])
    }

    @Test("Confidences are the soft-max of the scores, for the classes asked for, in their order")
    func confidences() throws {
        let segmenter = try segmenter("mini.safetensors") { options in
            options.shouldOutputScores = true
            options.shouldOutputConfidenceMasks = true
            options.confidenceClasses = [15, 0]
            options.maskSize = .source
        }
        let picture = try ImageFile.read(path: fixture("mini.input.png")).image.resized(width: 40, height: 90)
        let result = try segmenter.segment(image: picture)
        #expect(result.width == 40 && result.height == 90)
        let masks = try #require(result.confidenceMasks)
        let scores = try #require(result.scores)
        let categories = try #require(result.categoryMask).categories
        #expect(masks.map(\.classIndex) == [15, 0])
        #expect(scores.channels == 21 && scores.values.count == 40 * 90 * 21)
        for pixel in 0..<40 * 90 {
            let values = scores.values[pixel * 21..<(pixel + 1) * 21].map(Double.init)
            let largest = values.max() ?? 0
            let exponentials = values.map { exp($0 - largest) }
            let sum = exponentials.reduce(0, +)
            #expect(abs(Double(masks[0].confidences[pixel]) - exponentials[15] / sum) < 1e-5)
            #expect(abs(Double(masks[1].confidences[pixel]) - exponentials[0] / sum) < 1e-5)
            #expect(values[Int(categories[pixel])] > largest - 1e-4)
        }
    }

    @Test("A network of one probability gives it, its complement, and the subject where it is at least one half")
    func subject() throws {
        let segmenter = try segmenter("mini-selfie.safetensors") { options in
            options.shouldOutputScores = true
            options.shouldOutputConfidenceMasks = true
        }
        let result = try segmenter.segment(image: ImageFile.read(path: fixture("mini-selfie.input.png")).image)
        let expected = try NPYFile(path: fixture("mini-selfie.mask.npy"))
        #expect(expected.shape.prefix(2) == [40, 48])
        #expect(result.width == 48 && result.height == 40)
        #expect(result.labels.count == 2)
        let masks = try #require(result.confidenceMasks)
        let scores = try #require(result.scores)
        let categories = try #require(result.categoryMask).categories
        #expect(scores.channels == 1 && masks.count == 2)
        #expect(Set(categories) == [0, 1])
        for (pixel, probability) in expected.values.enumerated() {
            #expect(abs(scores.values[pixel] - probability) < 1e-4)
            #expect(abs(masks[1].confidences[pixel] - probability) < 1e-4)
            #expect(abs(masks[0].confidences[pixel] - (1 - probability)) < 1e-4)
            if abs(probability - 0.5) > 1e-4 { #expect(categories[pixel] == (probability >= 0.5 ? 1 : 0)) }
        }
    }

    @Test("The channel order and the row stride of a picture do not matter", arguments: PixelFormat.allCases)
    func layouts(format: PixelFormat) throws {
        let segmenter = try segmenter("mini.safetensors") { $0.maskSize = .source }
        let gray = try ImageFile.read(path: fixture("mini.input.png")).image.converted(to: .gray)
        let picture = format == .gray ? gray : gray.converted(to: .rgb).converted(to: format)
        let rowBytes = picture.width * format.channelCount
        let padded = stride(from: 0, to: picture.bytes.count, by: rowBytes).flatMap {
            picture.bytes[$0..<$0 + rowBytes] + [UInt8](repeating: 99, count: 5)
        }
        let strided = try Image(
            width: picture.width, height: picture.height, format: format, rowStride: rowBytes + 5, bytes: padded)
        let expected = try segmenter.segment(image: gray.converted(to: .rgb)).categoryMask
        #expect(try segmenter.segment(image: picture).categoryMask == expected)
        #expect(try segmenter.segment(image: strided).categoryMask == expected)
    }

    @Test("A channel swap shows: red is class 1, blue class 2", arguments: ["RGB", "BGR"])
    func channelOrder(order: String) throws {
        let (first, last): ([Float], [Float]) = ([1, 0, 0], [0, 0, 1])
        let (red, blue) = order == "RGB" ? (first, last) : (last, first)
        let model = try TinyModel(weights: [[0, 0, 0], red, blue], bias: [0.5, 0, 0], order: order).model()
        let segmenter = try ImageSegmenter(options: ImageSegmenterOptions(), model: model)
        let colors = [RGBColor(hex: "#ff0000"), RGBColor(hex: "#00ff00"), RGBColor(hex: "#0000ff")]
        for (color, category) in zip(colors, [1, 0, 2] as [UInt8]) {
            let picture = Image(size: PixelSize(width: 9, height: 4), format: .bgra, color: try #require(color))
            let mask = try #require(try segmenter.segment(image: picture).categoryMask)
            #expect(mask.categories == [UInt8](repeating: category, count: 36))
        }
    }

    @Test("One segmenter serves many tasks, and the same picture gives the same bytes every time")
    func manyTasks() async throws {
        let segmenter = try segmenter("mini.safetensors") { $0.maskSize = .source }
        let original = try ImageFile.read(path: fixture("mini.input.png")).image
        let pictures = [original, original.resized(width: 31, height: 77), original.resized(width: 100, height: 20)]
        let expected = try pictures.map { try segmenter.segment(image: $0).categoryMask }
        try await withThrowingTaskGroup(of: (Int, CategoryMask?).self) { group in
            for index in 0..<24 {
                group.addTask {
                    (index % 3, try segmenter.segment(image: pictures[index % 3]).categoryMask)
                }
            }
            for try await (index, mask) in group { #expect(mask == expected[index]) }
        }
    }

    @Test("Timings and the device are told")
    func timings() throws {
        let result = try segmenter("mini.safetensors") { $0.baseOptions.threadCount = 1 }
            .segment(image: ImageFile.read(path: fixture("mini.input.png")).image)
        #expect(result.timings.inferenceMilliseconds > 0)
        #expect(result.timings.totalMilliseconds >= result.timings.inferenceMilliseconds)
        #expect(result.deviceName.contains("1 thread"))
    }

    @Test("A live stream of a real network")
    func liveStream() async throws {
        let segmenter = try segmenter("mini.safetensors") { $0.runningMode = .liveStream }
        var results = segmenter.liveStreamResults().makeAsyncIterator()
        let picture = try ImageFile.read(path: fixture("mini.input.png")).image
        let expected = try ImageFile.readLabels(path: fixture("mini.labels.png")).bytes
        for timestamp in [3, 40, 77] {
            try segmenter.segmentAsync(image: picture, timestampInMilliseconds: timestamp)
            let event = try #require(await results.next())
            #expect(event.timestampInMilliseconds == timestamp)
            #expect(try event.result.get().categoryMask?.categories == expected)
        }
        #expect(segmenter.droppedFrameCount == 0)
    }
}

@Suite("Errors of the segmenter")
struct SegmenterErrorTests {
    @Test("A file that is no model is named, with the reason")
    func unusableModel() throws {
        try withScratchFolder { folder in
            let path = "\(folder)/broken.safetensors"
            try makeFile(path, [1, 2, 3])
            let error = #expect(throws: ImageSegmenterError.self) { try ImageSegmenter(modelPath: path) }
            guard case .unusableModel(path, let reason) = try #require(error) else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(!reason.isEmpty)
            #expect(throws: ImageSegmenterError.self) { try ImageSegmenter(modelPath: folder + "/absent") }
        }
    }

    @Test("A result that would not fit into memory is refused before memory is taken")
    func resultTooLarge() throws {
        let classes = 64
        let model = try TinyModel(
            width: 4, height: 4, weights: [[Float]](repeating: [1], count: classes),
            bias: [Float](repeating: 0, count: classes), order: "GRAY"
        ).model()
        var options = ImageSegmenterOptions()
        options.shouldOutputScores = true
        let segmenter = try ImageSegmenter(options: options, model: model)
        let picture = Image(size: PixelSize(width: 4097, height: 4096), format: .gray, color: .black)
        #expect(
            throws: ImageSegmenterError.resultTooLarge(
                width: 4097, height: 4096, channels: classes, byteCount: 4097 * 4096 * classes * 4)
        ) { try segmenter.segment(image: picture) }
        let small = Image(size: PixelSize(width: 5, height: 4), format: .gray, color: .black)
        #expect(try segmenter.segment(image: small).scores?.values.count == 5 * 4 * classes)
    }

    @Test("A category mask holds 256 classes; more give scores and confidences only")
    func manyClasses() throws {
        let model = try TinyModel(
            width: 2, height: 2, weights: [[Float]](repeating: [0], count: 300), bias: (0..<300).map(Float.init),
            order: "GRAY"
        ).model()
        var options = ImageSegmenterOptions()
        #expect(throws: ImageSegmenterError.self) { try ImageSegmenter(options: options, model: model) }
        options.shouldOutputCategoryMask = false
        options.shouldOutputConfidenceMasks = true
        options.confidenceClasses = [299]
        let result = try ImageSegmenter(options: options, model: model)
            .segment(image: Image(size: PixelSize(width: 3, height: 3), format: .rgb, color: .white))
        #expect(try #require(result.confidenceMasks?.first).confidences.allSatisfy { $0 > 0.6 && $0 < 0.7 })
    }

    @Test("Threads out of range are an error")
    func threads() {
        var options = ImageSegmenterOptions()
        options.baseOptions.modelAssetPath = Checkout.path("Tests/Fixtures/mini.safetensors")
        options.baseOptions.threadCount = 0
        #expect(throws: ImageSegmenterError.self) { try ImageSegmenter(options: options) }
    }
}
