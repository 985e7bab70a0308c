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
        let backend = try ValidatedDevice.backend(precision)
        for picture in PictureCase.table {
            let differences = try picture.differences(on: backend)
            #expect(differences.isEmpty, "\(picture)")
        }
        try ValidatedDevice.expectSilence()
    }

    @Test("Masks are the processor's", arguments: ReadPath.allCases)
    func masks(readPath: ReadPath) throws {
        try expectSameMasks(MaskCase.table, ValidatedDevice.backend(readPath: readPath))
    }

    @Test("Masks of float16 scores are the processor's of the same scores", arguments: [ReadPath.storage, .texels])
    func float16Masks(readPath: ReadPath) throws {
        let backend = try ValidatedDevice.backend(.float16, readPath: readPath)
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
        try ValidatedDevice.expectSilence()
    }

    @Test("Results larger than what a device can bind are made in parts")
    func largeResults() throws {
        // 177 MB of confidences and of scores; llvmpipe binds 134 MB.
        let mask = MaskCase(scores: [33, 33], channels: 21, picture: PixelSize(width: 1920, height: 1099))
        let difference = try mask.difference(on: ValidatedDevice.backend(), CPUBackend())
        #expect(difference.clearlyOther == 0 && difference.confidence <= 1e-5 && difference.score <= 1e-5)
        try ValidatedDevice.expectSilence()
    }
}
