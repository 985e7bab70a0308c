import VulkanImaging
import CPUBackend
import DeviceSupport
import Imaging
import ModelGraph
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

/// Whole frames: order, repetition, batches, counts, and what the validation layers say.
@Suite("Frames", .serialized, .needsVulkan)
struct FrameTests {
    static let size = PixelSize(width: 90, height: 67)

    static func mini() throws -> Model { try Model(path: Checkout.path("Tests/Fixtures/mini.safetensors")) }

    static let everything = SegmentationOutputs(confidenceClasses: [0, 2], scores: true)

    @Test("give the same bytes in 20 runs, from two slots in turn", arguments: StoragePrecision.allCases)
    func repetition(_ precision: StoragePrecision) throws {
        let program = try SegmentationProgram(
            ValidatedDevice.backend(precision), model: Self.mini(),
            format: SegmentationFormat(picture: Self.size, outputs: Self.everything))
        let slots = [try program.makeSlot(), try program.makeSlot()]
        let picture = TestPicture.make(Self.size)
        let first = try slots[0].run([picture])
        for run in 1..<20 {
            #expect(try slots[run % 2].run([picture]) == first)
        }
        try ValidatedDevice.expectSilence()
    }

    @Test("in flight together keep their results apart")
    func severalInFlight() throws {
        let program = try SegmentationProgram(
            ValidatedDevice.backend(), model: Self.mini(), format: SegmentationFormat(picture: Self.size))
        let slots = try (0..<3).map { _ in try program.makeSlot() }
        let pictures = (0..<3).map { TestPicture.make(Self.size, seed: UInt64($0)) }
        let expected = try pictures.map { try slots[0].run([$0])[0].categories }
        for _ in 0..<3 {
            for (slot, picture) in zip(slots, pictures) { try picture.withView { try slot.submit($0) } }
            for (slot, expected) in zip(slots, expected) {
                #expect(slot.isInFlight)
                try slot.wait(nanoseconds: 60_000_000_000)
                var categories = [UInt8](repeating: 255, count: expected.count)
                categories.withUnsafeMutableBufferPointer { slot.copyCategories(into: $0) }
                #expect(categories == expected)
            }
        }
        try ValidatedDevice.expectSilence()
    }

    @Test("in a batch give what their pictures give alone", arguments: StoragePrecision.allCases)
    func batch(_ precision: StoragePrecision) throws {
        let network = PictureNetwork(try ValidatedDevice.backend(precision), model: try Self.mini())
        let pictures = (0..<3).map { TestPicture.make(Self.size, .rgba, seed: UInt64($0)) }
        for fit in Fit.allCases {
            var format = SegmentationFormat(
                picture: Self.size, orientation: .right, fit: fit, outputs: Self.everything)
            let alone = try SegmentationProgram(network, format: format)
            format.batch = 3
            let together = try SegmentationProgram(network, format: format)
            let (large, slot) = (try together.makeSlot(), try alone.makeSlot())
            #expect(large.dispatchCount == slot.dispatchCount)
            let results = try large.run(pictures)
            for (picture, result) in zip(pictures, results) { #expect(try slot.run([picture])[0] == result) }
        }
        try ValidatedDevice.expectSilence()
    }

    @Test("of two formats share a network")
    func sharedNetwork() throws {
        let network = PictureNetwork(try ValidatedDevice.backend(), model: try Self.mini())
        let sizes = [Self.size, PixelSize(width: 33, height: 120)]
        let slots = try sizes.map {
            try SegmentationProgram(network, format: SegmentationFormat(picture: $0, fit: .letterbox)).makeSlot()
        }
        let pictures = sizes.map { TestPicture.make($0) }
        let first = try zip(slots, pictures).map { try $0.run([$1]) }
        for (slot, picture) in zip(slots, pictures) { try picture.withView { try slot.submit($0) } }
        for (slot, expected) in zip(slots, first) {
            try slot.wait(nanoseconds: 60_000_000_000)
            var categories = [UInt8](repeating: 255, count: slot.program.maskSize.pixelCount)
            categories.withUnsafeMutableBufferPointer { slot.copyCategories(into: $0) }
            #expect(categories == expected[0].categories)
        }
        try ValidatedDevice.expectSilence()
    }

    @Test("take the dispatches and barriers that they are known to need")
    func counts() throws {
        let graph = try SmallGraphs.deepLab257()
        let network = PictureNetwork(
            try ValidatedDevice.backend(), graph: graph,
            input: ModelInput(
                width: 257, height: 257, order: .rgb, scale: [Float](repeating: 1 / 127.5, count: 3),
                bias: [-1, -1, -1]), outputKind: .logits)
        let size = PixelSize(width: 640, height: 480)
        func slot(_ maskSize: MaskSize, _ outputs: SegmentationOutputs) throws -> SegmentationSlot {
            try SegmentationProgram(
                network, format: SegmentationFormat(picture: size, maskSize: maskSize, outputs: outputs)
            )
            .makeSlot()
        }
        let categories = try slot(.model, SegmentationOutputs())
        // DESIGN's bound for this network is 58.
        #expect(categories.program.networkDispatchCount == 57)
        // Two passes of the resize before it, the mask after it.
        #expect(categories.dispatchCount == 60)
        #expect(categories.barrierCount == 60)
        // Confidences need no barrier beside the mask.
        let both = try slot(.source, SegmentationOutputs(confidenceClasses: [0]))
        #expect(both.dispatchCount == 61 && both.barrierCount == 60)
    }

    @Test("several in flight, take what they need once for each slot")
    func calls() throws {
        let counter = FaultInjector()
        let program = try SegmentationProgram(
            VulkanBackend(TestDevice.open(faults: counter)), model: Self.mini(),
            format: SegmentationFormat(picture: Self.size, outputs: Self.everything))
        let scheduler = FrameScheduler(slotCount: 3) { try program.makeSlot() }
        let picture = TestPicture.make(Self.size)
        func round() throws {
            for _ in 0..<3 { _ = try picture.withView { try scheduler.submit($0) } }
            while try scheduler.collectNext({ _, _ in true }) != nil {}
        }
        try round()
        let before = counter.callCounts
        #expect(before["vkCreateFence", default: 0] >= 3)
        for _ in 0..<4 { try round() }
        let made = counter.callCounts.merging(before, uniquingKeysWith: -).filter { $0.value != 0 }
        #expect(made == ["vkResetFences": 12, "vkQueueSubmit": 12, "vkWaitForFences": 12])
    }

    @Test("can be dropped on their way, and outlive whoever made them")
    func dropped() throws {
        let picture = TestPicture.make(Self.size)
        var slot: SegmentationSlot? = try {
            let backend = try ValidatedDevice.backend()
            return try SegmentationProgram(backend, model: Self.mini(), format: SegmentationFormat(picture: Self.size))
                .makeSlot()
        }()
        let expected = try slot?.run([picture])
        try picture.withView { try slot?.submit($0) }
        slot = nil
        let other = try SegmentationProgram(
            ValidatedDevice.backend(), model: Self.mini(), format: SegmentationFormat(picture: Self.size)
        ).makeSlot()
        #expect(try other.run([picture]) == expected)
        try ValidatedDevice.expectSilence()
    }

    @Test("without one of their barriers are reported by the validation layers", .needsValidation)
    func canary() throws {
        let format = SegmentationFormat(picture: Self.size, outputs: Self.everything)
        let picture = TestPicture.make(Self.size)
        // After the upload, between the passes of the resize, within the network, before the masks.
        for barrier in [0, 1, 3] {
            let device = try TestDevice.open(validation: true)
            let program = try SegmentationProgram(VulkanBackend(device), model: Self.mini(), format: format)
            _ = try program.makeSlot().run([picture])
            #expect(device.instance.validationMessages.isEmpty)
            _ = try program.makeSlot(omittedBarrier: barrier).run([picture])
            let messages = device.instance.validationMessages
            #expect(messages.contains { $0.contains("SYNC-HAZARD") }, "barrier \(barrier): \(messages)")
        }
    }
}
