import DeviceSupport
import Silhouette
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

/// Effects of a renderer whose segmenter has a Vulkan device.
@Suite("Effects on a segmenter's device", .serialized, .needsVulkan)
struct EffectDeviceTests {
    private static let effects: [Effect] = [
        .cutout, .composite(.color(.black)), .composite(.blur(radius: 3)), .composite(.gray), .composite(.dim(0.5)),
        .overlay(OverlayStyle()), .overlay(OverlayStyle(outline: 2)),
    ]

    private func segmenter(
        _ faults: FaultInjector? = nil, _ warnings: Warnings? = nil, shaders: ShaderLibrary = .shared
    ) throws -> ImageSegmenter {
        let options = VulkanTests.options(warnings)
        let choice = try EngineChoice(
            model: VulkanTests.model, options: options.baseOptions, faults: faults, shaders: shaders)
        return try ImageSegmenter(
            options: options, model: ModelOutput(VulkanTests.model), engine: choice.engine)
    }

    private func onProcessor() throws -> ImageSegmenter {
        var options = VulkanTests.options()
        options.baseOptions.device = .cpu
        return try ImageSegmenter(options: options, model: VulkanTests.model)
    }

    private func levels(_ a: Image, _ b: Image) -> Int {
        guard a.size == b.size, a.format == b.format, a.bytes.count == b.bytes.count else { return 255 }
        return zip(a.bytes, b.bytes).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    @Test("Pictures and frames are the processor's within one level of the same masks")
    func sameAsProcessor() throws {
        let warnings = Warnings()
        let (device, processor) = (try segmenter(nil, warnings), try onProcessor())
        for effect in Self.effects {
            let options = EffectOptions(effect, classes: [1, 2, 5, 9, 15], edges: EdgeOptions())
            let renderer = try EffectRenderer(options: options, segmenter: device)
            let reference = try EffectRenderer(options: options, segmenter: processor)
            for (width, height) in [(65, 65), (130, 71), (65, 65)] {
                let picture = try VulkanTests.picture(width: width, height: height)
                let result = try renderer.segment(picture)
                #expect(levels(renderer.draw(picture, result), reference.draw(picture, result)) <= 1, "\(effect)")
                #expect(
                    levels(renderer.drawFrame(picture, result), reference.drawFrame(picture, result)) <= 1, "\(effect)")
            }
        }
        #expect(warnings.all.isEmpty && device.deviceFailure == nil)
    }

    @Test("A device that is lost while it draws is replaced by the processor, with one warning")
    func lost() throws {
        let options = EffectOptions(.composite(.blur(radius: 3)))
        let reference = try EffectRenderer(options: options, segmenter: onProcessor())
        let picture = try VulkanTests.picture()
        // In the check, in either part of the drawing.
        let faultPlaces = [("vkQueueSubmit", 1), ("vkWaitForFences", 2), ("vkQueueSubmit", 8), ("vkWaitForFences", 9)]
        for (call, after) in faultPlaces {
            let (faults, warnings) = (FaultInjector(), Warnings())
            let device = try segmenter(faults, warnings)
            let renderer = try EffectRenderer(options: options, segmenter: device)
            let result = try renderer.segment(picture)
            faults.inject(.deviceLost(at: call, after: after))
            var drawn: [Image] = []
            for _ in 0..<3 { drawn.append(renderer.draw(picture, result)) }
            let expected = reference.draw(picture, result)
            #expect(drawn.allSatisfy { levels($0, expected) <= 1 })
            #expect(drawn.last == expected)
            #expect(faults.injectedCount > 0)
            #expect(warnings.all.count == 1 && warnings.all.first?.contains("lost") == true, "\(warnings.all)")
            #expect(device.deviceFailure != nil)
        }
    }

    @Test(
        "A device that draws wrongly is found out before its first drawing",
        arguments: [
            ("effect", Effect.composite(.gray)), ("effect", .composite(.dim(0.5))), ("effect", .cutout),
            ("effect_layer", .cutout), ("effect_layer", .overlay(OverlayStyle())), ("resize_layer", .cutout),
            ("resize_layer", .composite(.blur(radius: 3))), ("effect_overlay", .overlay(OverlayStyle())),
        ])
    func wrongDrawing(shader: String, effect: Effect) throws {
        let warnings = Warnings()
        let device = try segmenter(nil, warnings, shaders: .breaking(shader))
        let options = EffectOptions(effect, classes: [1, 2, 5, 9, 15], edges: EdgeOptions())
        let renderer = try EffectRenderer(options: options, segmenter: device)
        let reference = try EffectRenderer(options: options, segmenter: onProcessor())
        let picture = try VulkanTests.picture()
        let result = try renderer.segment(picture)
        #expect(warnings.all.isEmpty, "masks do not need this shader")
        #expect(renderer.draw(picture, result) == reference.draw(picture, result))
        #expect(device.deviceFailure?.contains("its drawing of a test picture is not the processor's") == true)
        #expect(warnings.all.count == 1)
    }

    @Test("A picture that there is no room for is drawn on the processor, the next one on the device again")
    func tooLarge() throws {
        let (faults, warnings) = (FaultInjector(), Warnings())
        let device = try segmenter(faults, warnings)
        let options = EffectOptions(.cutout)
        let renderer = try EffectRenderer(options: options, segmenter: device)
        let reference = try EffectRenderer(options: options, segmenter: onProcessor())
        let picture = try VulkanTests.picture()
        let first = try renderer.segment(picture)
        _ = renderer.draw(picture, first)
        let larger = try VulkanTests.picture(width: 90, height: 80)
        let result = try renderer.segment(larger)
        let before = faults.allocationCount
        faults.inject(
            .init("vkAllocateMemory", after: 1, times: 1, result: FaultInjector.Fault.outOfDeviceMemory(at: "").result))
        #expect(renderer.draw(larger, result) == reference.draw(larger, result))
        #expect(faults.injectedCount == 1)
        #expect(faults.allocationCount == before, "what was taken for it is kept")
        #expect(warnings.all.count == 1 && warnings.all.first?.contains("no room") == true, "\(warnings.all)")
        #expect(levels(renderer.draw(larger, result), reference.draw(larger, result)) <= 1)
        #expect(device.deviceFailure == nil)
    }
}
