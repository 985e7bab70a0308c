import VulkanImaging
import CPUBackend
import DeviceSupport
import Imaging
import ModelGraph
import Testing
import VulkanBackend

/// Pictures to the network's input, and scores to masks, against what the processor makes of the same.
@Suite("Parts of a frame", .serialized, .needsVulkan)
struct FramePartTests {
    @Test("Pictures become the input that Imaging makes of them, bit for bit", arguments: StoragePrecision.allCases)
    func pictures(_ precision: StoragePrecision) throws {
        let backend = try FrameDevice.backend(precision)
        for picture in PictureCase.table {
            let differences = try picture.differences(on: backend)
            #expect(differences.isEmpty, "\(picture)")
        }
        try FrameDevice.expectSilence()
    }

    @Test("Masks are the processor's", arguments: [0, 1, 2])
    func masks(readPath: Int) throws {
        try expectSameMasks(MaskCase.table, FrameDevice.backend(readPath: readPath))
    }

    @Test("Masks of float16 scores are the processor's of the same scores", arguments: [0, 1])
    func float16Masks(readPath: Int) throws {
        let backend = try FrameDevice.backend(.float16, readPath: readPath)
        // Where the graph's own activation is done before the masks, its rounding shows.
        try expectSameMasks(MaskCase.table.filter { $0.activation == .none }, backend, network: backend)
    }

    private func expectSameMasks(
        _ cases: [MaskCase], _ backend: VulkanBackend, network: (any InferenceBackend)? = nil
    ) throws {
        let processor = try CPUBackend(threads: 1)
        var (other, pixels) = (0, 0)
        for mask in cases {
            let difference = try mask.difference(on: backend, processor, network: network)
            #expect(difference.clearlyOther == 0, "\(mask): \(difference)")
            #expect(difference.confidence <= 1e-5, "\(mask): \(difference)")
            #expect(difference.score <= 1e-5, "\(mask): \(difference)")
            other += difference.other
            pixels += difference.pixelCount
        }
        #expect(Double(other) <= 1e-4 * Double(pixels), "\(other) of \(pixels) pixels")
        try FrameDevice.expectSilence()
    }

    @Test("Overlays are the processor's within one level", arguments: Orientation.allCases, PixelFormat.allCases)
    func overlays(_ orientation: Orientation, _ layout: PixelFormat) throws {
        let model = try FrameModel.classes([16, 16], channels: 21)
        let stored = PixelSize(width: 53, height: 38)
        let format = SegmentationFormat(
            picture: stored, orientation: orientation, fit: .crop,
            outputs: SegmentationOutputs(overlay: .init(palette: .voc(count: 21), opacity: 0.6)),
            background: RGBColor(red: 20, green: 220, blue: 99))
        let picture = TestPicture.make(stored, layout)
        let result = try model.program(FrameDevice.backend(), format).makeSlot().run([picture])[0]
        let reference = try model.reference(picture, format, on: CPUBackend(threads: 1))
        #expect(result.categories == reference.categories)
        #expect(Set(result.categories).count > 3)
        let levels = zip(result.overlay, reference.overlay).map { abs(Int($0) - Int($1)) }
        #expect(levels.count == reference.overlay.count && levels.max() ?? 255 <= 1)
        try FrameDevice.expectSilence()
    }

    @Test("Results larger than what a device can bind are made in parts")
    func largeResults() throws {
        // 177 MB of confidences and of scores; llvmpipe binds 134 MB.
        let mask = MaskCase(scores: [33, 33], channels: 21, picture: PixelSize(width: 1920, height: 1099))
        let difference = try mask.difference(on: FrameDevice.backend(), CPUBackend())
        #expect(difference.clearlyOther == 0 && difference.confidence <= 1e-5 && difference.score <= 1e-5)
        try FrameDevice.expectSilence()
    }

    @Test("An overlay alone reads back nothing else, and is the same")
    func overlayAlone() throws {
        let model = try FrameModel.classes([16, 16], channels: 5)
        let size = PixelSize(width: 41, height: 30)
        var format = SegmentationFormat(
            picture: size, outputs: SegmentationOutputs(overlay: .init(palette: .voc(count: 5))))
        let backend = try FrameDevice.backend()
        let both = try model.program(backend, format).makeSlot().run([TestPicture.make(size)])[0]
        format.outputs.categories = false
        let alone = try model.program(backend, format).makeSlot().run([TestPicture.make(size)])[0]
        #expect(alone.overlay == both.overlay && alone.categories.isEmpty)
    }
}
