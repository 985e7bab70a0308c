import ModelGraph
import Silhouette
import TestSupport
import Testing

@Suite("Effect renderer")
struct EffectRendererTests {
    private func segmenter(_ device: Device = .cpu) throws -> ImageSegmenter {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = device
        options.baseOptions.shaderCacheFolder = nil
        return try ImageSegmenter(options: options, model: VulkanTests.model)
    }

    @Test("A picture has the effect's format and its own size, whatever its layout", arguments: PixelFormat.allCases)
    func formats(_ format: PixelFormat) throws {
        let segmenter = try segmenter()
        let picture = try VulkanTests.picture(width: 91, height: 40).converted(to: format)
        for effect in [
            Effect.overlay(OverlayStyle(outline: 1)), .cutout, .composite(.blur(radius: 3)), .composite(.gray),
        ] {
            let result = try EffectRenderer(options: EffectOptions(effect), segmenter: segmenter).render(image: picture)
            #expect(result.size == picture.size && result.format == (effect == .cutout ? .rgba : .rgb))
        }
    }

    @Test("Options that contradict the model or themselves are refused in words")
    func options() throws {
        let segmenter = try segmenter()
        func fault(_ effect: Effect, _ change: (inout EffectOptions) -> Void = { _ in }) -> String? {
            var options = EffectOptions(effect)
            change(&options)
            do throws(ImageSegmenterError) {
                _ = try EffectRenderer(options: options, segmenter: segmenter)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(fault(.cutout) == nil)
        #expect(fault(.cutout) { $0.classes = [] }?.contains("no class") == true)
        #expect(fault(.cutout) { $0.classes = [21] }?.contains("class 21") == true)
        #expect(fault(.cutout) { $0.edges = EdgeOptions(shift: .infinity) }?.contains("shift") == true)
        #expect(fault(.cutout) { $0.temporalSmoothing = 1 }?.contains("smoothing") == true)
        #expect(fault(.composite(.blur(radius: 0)))?.contains("radius") == true)
        #expect(fault(.composite(.dim(.nan)))?.contains("dimmed") == true)
        #expect(fault(.overlay(OverlayStyle(opacity: 2)))?.contains("opacity") == true)
        #expect(fault(.overlay(OverlayStyle(outline: -1)))?.contains("outline") == true)
        #expect(fault(.overlay(OverlayStyle(colors: [21: .white])))?.contains("class 21") == true)
        let gradient = Gradient(angle: .nan, colors: [.black, .white])
        #expect(fault(.composite(.gradient(gradient)))?.contains("angle") == true)
        var empty = Gradient(colors: [.black])
        empty.stops = []
        #expect(fault(.composite(.gradient(empty)))?.contains("no colour") == true)
    }

    @Test("A frame that is not later is refused, and later ones go on")
    func timestamps() throws {
        let renderer = try EffectRenderer(options: EffectOptions(.cutout), segmenter: segmenter())
        let picture = try VulkanTests.picture()
        _ = try renderer.render(videoFrame: picture, timestampInMilliseconds: 10)
        for late in [10, 3] {
            #expect(throws: ImageSegmenterError.self) {
                try renderer.render(videoFrame: picture, timestampInMilliseconds: late)
            }
        }
        _ = try renderer.render(videoFrame: picture, timestampInMilliseconds: 11)
    }

    @Test("A film of one picture stays that picture's effect")
    func still() throws {
        let renderer = try EffectRenderer(options: EffectOptions(.cutout), segmenter: segmenter())
        let picture = try VulkanTests.picture()
        let alone = try renderer.render(image: picture)
        for time in 0..<4 {
            let frame = try renderer.render(videoFrame: picture, timestampInMilliseconds: time)
            let worst = zip(frame.bytes, alone.bytes).map { abs(Int($0) - Int($1)) }.max() ?? 0
            #expect(worst <= 1)
        }
    }

    @Test("The stronger a film is smoothed, the more of the frame before is seen; without, nothing")
    func smoothing() throws {
        var options = ImageSegmenterOptions()
        options.baseOptions.device = .cpu
        let segmenter = try ImageSegmenter(
            options: options, model: TinyModel.brightness(side: 65, threshold: 0.5).model())
        // From dark to bright, and a little brighter in the second frame: its edge lies farther left.
        let pictures = try [0, 5].map { lift in
            try Image(
                width: 65, height: 65, format: .gray, bytes: (0..<65 * 65).map { UInt8(60 + 2 * ($0 % 65) + lift) })
        }
        func opacities(_ image: Image) -> [Int] {
            image.converted(to: .rgba).bytes.indices.filter { $0 % 4 == 3 }.map { Int(image.bytes[$0]) }
        }
        func second(_ strength: Float) throws -> Int {
            var options = EffectOptions(.cutout, classes: ["class1"])
            options.temporalSmoothing = strength
            let renderer = try EffectRenderer(options: options, segmenter: segmenter)
            _ = try renderer.render(videoFrame: pictures[0], timestampInMilliseconds: 0)
            return try opacities(renderer.render(videoFrame: pictures[1], timestampInMilliseconds: 40)).reduce(0, +)
        }
        let alone = try pictures.map { picture in
            try opacities(
                EffectRenderer(options: EffectOptions(.cutout, classes: ["class1"]), segmenter: segmenter)
                    .render(image: picture)
            ).reduce(0, +)
        }
        let step = alone[1] - alone[0]
        #expect(step > 0)
        #expect(try second(0) == alone[1])
        let shares = try [Float(0.3), 0.6, 0.9].map { strength in Float(alone[1] - (try second(strength))) / Float(step)
        }
        #expect(shares[0] > 0.05 && shares[1] > shares[0] + 0.05 && shares[2] > shares[1] + 0.05, "\(shares)")
        #expect(shares[2] <= 0.9)
    }

    @Test("One renderer serves many tasks")
    func tasks() async throws {
        let renderer = try EffectRenderer(options: EffectOptions(.composite(.dim(0.5))), segmenter: segmenter())
        let pictures = try (1...4).map { try VulkanTests.picture(width: 60 + $0, height: 50, seed: UInt64($0)) }
        let expected = try pictures.map { try renderer.render(image: $0) }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for round in 0..<16 {
                group.addTask { try renderer.render(image: pictures[round % 4]) == expected[round % 4] }
            }
            for try await isSame in group { #expect(isSame) }
        }
    }

    @Test("The processor's effects and a Vulkan device's agree")
    func devices() throws {
        let onProcessor = try segmenter()
        let onDevice = try segmenter(.vulkan(.best))
        let picture = try VulkanTests.picture(width: 130, height: 97)
        for effect in [
            Effect.overlay(OverlayStyle()), .cutout, .composite(.blur(radius: 4)), .composite(.color(.black)),
        ] {
            let options = EffectOptions(effect, edges: EdgeOptions())
            let first = try EffectRenderer(options: options, segmenter: onProcessor).render(image: picture)
            let second = try EffectRenderer(options: options, segmenter: onDevice).render(image: picture)
            let different = zip(first.bytes, second.bytes).count { abs(Int($0) - Int($1)) > 2 }
            #expect(different * 1000 <= first.bytes.count, "\(effect): \(different) of \(first.bytes.count)")
        }
        #expect(onDevice.deviceFailure == nil)
    }
}
