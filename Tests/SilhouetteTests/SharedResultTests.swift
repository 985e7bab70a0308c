import Base
import DeviceSupport
import Silhouette
import TestSupport
import Testing

/// The processor's engine, which counts the runs of its network.
private final class CountingEngine: SegmentationEngine {
    private let engine: CPUEngine
    private let count = Locked(0)

    init() throws {
        var options = BaseOptions()
        options.threadCount = 1
        engine = try CPUEngine(model: VulkanTests.model, options: options)
    }

    var deviceName: String { engine.deviceName }
    var runCount: Int { count.withLock(\.self) }

    func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks {
        count.withLock { $0 += 1 }
        return try engine.segment(image, request)
    }
}

/// Masks and effects out of one run of the network.
@Suite("Results that effects are drawn with")
struct SharedResultTests {
    private let classes: ClassSelection = [1, 2, 5, 9, 15]

    private func segmenter(
        _ engine: any SegmentationEngine, _ change: (inout ImageSegmenterOptions) -> Void = { _ in }
    ) throws -> ImageSegmenter {
        var options = ImageSegmenterOptions()
        change(&options)
        return try ImageSegmenter(options: options, model: ModelOutput(VulkanTests.model), engine: engine)
    }

    @Test("A mask and effects of one picture run the network once, and are what each would be alone")
    func once() throws {
        let engine = try CountingEngine()
        let picture = try VulkanTests.picture(width: 91, height: 40)
        let plain = try segmenter(engine)
        let effects = [
            EffectOptions(.cutout, classes: classes), EffectOptions(.composite(.gray), classes: classes),
            EffectOptions(.overlay(OverlayStyle()), classes: classes),
            EffectOptions(.overlay(OverlayStyle(outline: 1)), classes: classes, edges: EdgeOptions()),
        ]
        let renderers = try effects.map { try EffectRenderer(options: $0, segmenter: plain) }
        let mask = try plain.segment(image: picture).categoryMask
        let alone = try renderers.map { try $0.render(image: picture) }
        let before = engine.runCount
        #expect(before == 5)

        let result = try segmenter(engine) { $0.subjectClasses = classes }.segment(image: picture)
        let together = try renderers.map { try $0.render(image: picture, result: result) }
        #expect(engine.runCount == before + 1)
        #expect(result.categoryMask == mask && result.size == picture.size)
        #expect(together == alone)
    }

    @Test("Every kind of mask of the network's size goes along")
    func modelSize() throws {
        let engine = try CountingEngine()
        let picture = try VulkanTests.picture(width: 91, height: 40)
        func masks(_ subject: ClassSelection?) throws -> ImageSegmenterResult {
            try segmenter(engine) {
                $0.maskSize = .model
                $0.shouldOutputConfidenceMasks = true
                $0.shouldOutputScores = true
                $0.subjectClasses = subject
            }.segment(image: picture)
        }
        let (plain, shared) = (try masks(nil), try masks(.foreground))
        #expect(shared.categoryMask == plain.categoryMask && shared.size == plain.size)
        #expect(shared.confidenceMasks == plain.confidenceMasks && shared.scores == plain.scores)
        let renderer = try EffectRenderer(options: EffectOptions(.cutout), segmenter: segmenter(engine))
        #expect(try renderer.render(image: picture, result: shared) == renderer.render(image: picture))
    }

    @Test("Tiles give them as well")
    func tiles() throws {
        let engine = try CountingEngine()
        let picture = try VulkanTests.picture(width: 200, height: 70)
        let plain = try segmenter(engine) { $0.fit = .tile }
        let renderer = try EffectRenderer(options: EffectOptions(.cutout, classes: classes), segmenter: plain)
        let shared = try segmenter(engine) {
            $0.fit = .tile
            $0.subjectClasses = classes
        }
        let result = try shared.segment(image: picture)
        #expect(result.categoryMask == (try plain.segment(image: picture).categoryMask))
        #expect(try renderer.render(image: picture, result: result) == renderer.render(image: picture))
    }

    @Test("Frames of a video keep their order, and are what they would be alone")
    func frames() throws {
        let engine = try CountingEngine()
        let video = try segmenter(engine) {
            $0.runningMode = .video
            $0.subjectClasses = classes
        }
        let options = EffectOptions(.cutout, classes: classes)
        let (shared, alone) = (
            try EffectRenderer(options: options, segmenter: video),
            try EffectRenderer(options: options, segmenter: video)
        )
        for time in 1...3 {
            let frame = try VulkanTests.picture(seed: UInt64(time))
            let result = try video.segment(videoFrame: frame, timestampInMilliseconds: time)
            let drawn = try shared.render(videoFrame: frame, result: result)
            #expect(drawn == (try alone.render(videoFrame: frame, timestampInMilliseconds: time)))
            #expect(throws: ImageSegmenterError.self) { try shared.render(videoFrame: frame, result: result) }
        }
    }

    @Test("A result that lacks what the effect needs is refused in words")
    func refusals() throws {
        let engine = try CountingEngine()
        let picture = try VulkanTests.picture()
        let plain = try segmenter(engine)
        let renderer = try EffectRenderer(options: EffectOptions(.cutout, classes: [15]), segmenter: plain)
        func message(_ result: ImageSegmenterResult, _ image: Image) -> String? {
            do throws(ImageSegmenterError) {
                _ = try renderer.render(image: image, result: result)
                return nil
            } catch {
                return error.description
            }
        }
        let good = try segmenter(engine) { $0.subjectClasses = ["person"] }.segment(image: picture)
        #expect(message(good, picture) == nil)
        #expect(message(try plain.segment(image: picture), picture)?.contains("subjectClasses") == true)
        let other = try segmenter(engine) { $0.subjectClasses = [1, 2] }.segment(image: picture)
        #expect(message(other, picture)?.hasSuffix("and the effect's person") == true)
        #expect(
            message(good, try VulkanTests.picture(width: 70, height: 65))
                == "the result is of a picture of 65x65, not of 70x65")
        var foreign = good
        foreign.labels[3] = "unicorn"
        #expect(message(foreign, picture) == "the result is another model's")
        #expect(throws: ImageSegmenterError.self) { try renderer.render(videoFrame: picture, result: good) }
    }

    @Test("What cannot be had beside a subject is refused")
    func options() throws {
        let engine = try CountingEngine()
        for change: (inout ImageSegmenterOptions) -> Void in [
            { $0.shouldOutputScores = true }, { $0.shouldOutputConfidenceMasks = true }, { $0.subjectClasses = [] },
            { $0.subjectClasses = ["unicorn"] },
        ] {
            #expect(throws: ImageSegmenterError.self) {
                try segmenter(engine) {
                    $0.subjectClasses = .foreground
                    change(&$0)
                }
            }
        }
    }

    @Test("Classes are chosen by name as by number, and a name that is not there has near ones")
    func names() throws {
        let engine = try CountingEngine()
        let picture = try VulkanTests.picture()
        func confidences(_ classes: ClassSelection) throws -> [ConfidenceMask]? {
            try segmenter(engine) {
                $0.shouldOutputConfidenceMasks = true
                $0.confidenceClasses = classes
            }.segment(image: picture).confidenceMasks
        }
        #expect(try confidences(["Person", "background"]) == confidences([15, 0]))
        #expect(
            throws: ImageSegmenterError.invalidOptions("the model has no class 'persn'; did you mean person?")
        ) { try confidences(["persn"]) }
        let plain = try segmenter(engine)
        #expect(throws: ImageSegmenterError.invalidOptions("the model has no class 'dgo'; did you mean dog?")) {
            try EffectRenderer(options: EffectOptions(.cutout, classes: ["dgo"]), segmenter: plain)
        }
    }
}
