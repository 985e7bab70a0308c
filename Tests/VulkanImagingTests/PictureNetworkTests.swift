import VulkanImaging
import CPUBackend
import DeviceSupport
import Imaging
import ModelGraph
import TestSupport
import Testing
import VulkanBackend

/// Whole frames of real networks, from 8-bit pictures to masks, against other runtimes' answers.
@Suite("Frames of networks", .serialized, .needsVulkan)
struct FrameNetworkTests {
    private static func fixture(_ name: String) -> String { Checkout.path("Tests/Fixtures/" + name) }

    /// The part of the pixels that a frame must label as the reference does.
    private static func bar(_ precision: StoragePrecision) -> Double { precision == .float32 ? 0.9999 : 0.995 }

    private func run(_ model: Model, _ picture: Image, _ precision: StoragePrecision, _ format: SegmentationFormat)
        throws
        -> FrameResult
    {
        try SegmentationProgram(ValidatedDevice.backend(precision), model: model, format: format).makeSlot().run([
            picture
        ])[
            0]
    }

    private func labels(_ path: String) throws -> (size: PixelSize, values: [UInt8]) {
        let picture = try ImageFile.readLabels(path: path)
        return (
            picture.size,
            (0..<picture.height).flatMap { y in
                picture.bytes[y * picture.rowStride..<y * picture.rowStride + picture.width]
            }
        )
    }

    private func agreement(_ labels: [UInt8], _ others: [UInt8]) -> Double {
        labels.count == others.count
            ? Double(zip(labels, others).count { $0 == $1 }) / Double(labels.count) : 0
    }

    @Test("The mini network's labels are ONNX Runtime's", arguments: StoragePrecision.allCases)
    func mini(_ precision: StoragePrecision) throws {
        let model = try FrameTests.mini()
        let picture = try ImageFile.read(path: Self.fixture("mini.input.png")).image
        let expected = try labels(Self.fixture("mini.labels.png"))
        let result = try run(model, picture, precision, SegmentationFormat(picture: picture.size, maskSize: .model))
        let same = agreement(result.categories, expected.values)
        // Its weights are random and magnify what is rounded: noise of 5e-4 on its input moves its scores by 0.3, and float16
        // between the layers, computed exactly, by 0.9. Trained networks are held to 99.5 % below.
        #expect(same >= (precision == .float32 ? 1 : 0.95))
        try ValidatedDevice.expectSilence()
    }

    @Test("The mini network's probabilities are ONNX Runtime's", arguments: StoragePrecision.allCases)
    func miniSelfie(_ precision: StoragePrecision) throws {
        let model = try Model(path: Self.fixture("mini-selfie.safetensors"))
        let picture = try ImageFile.read(path: Self.fixture("mini-selfie.input.png")).image
        let expected = try NPYFile(path: Self.fixture("mini-selfie.mask.npy"))
        let result = try run(
            model, picture, precision,
            SegmentationFormat(
                picture: picture.size, maskSize: .model, outputs: SegmentationOutputs(confidenceClasses: [1, 0])))
        let difference = zip(result.confidences[0], expected.values).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
        #expect(result.confidences[0].count == expected.values.count)
        #expect(difference <= (precision == .float32 ? 1e-3 : 1e-2))
        #expect(result.confidences[1].elementsEqual(result.confidences[0].map { 1 - $0 }))
        #expect(result.categories == result.confidences[0].map { $0 >= 0.5 ? 1 : 0 })
        try ValidatedDevice.expectSilence()
    }

    @Test(
        "take the dispatches and barriers that they are known to need", .needsPython, .needs(shared: "models"),
        arguments: [
            (ReferenceModel.deepLab257, 57, 60, 60), (.apple, 57, 60, 60), (.coral, 57, 60, 60),
            (.selfie, 87, 90, 90),
        ])
    func counts(model: ReferenceModel, network: Int, dispatches: Int, barriers: Int) throws {
        let size = PixelSize(width: 640, height: 480)
        let slot = try SegmentationProgram(
            ValidatedDevice.backend(), model: Model(path: model.path()),
            format: SegmentationFormat(picture: size, maskSize: .model)
        ).makeSlot()
        #expect(slot.program.networkDispatchCount == network)
        #expect(slot.dispatchCount == dispatches)
        #expect(slot.barrierCount == barriers)
    }

    private static let pictures = [
        "astronaut.png", "camera.png", "chelsea.png", "coco_000000000139.jpg", "coco_000000005037.jpg",
        "coco_000000011122.jpg", "rocket.jpg",
    ]

    @Test(
        "DeepLabV3's labels of photographs are LiteRT's", .needsPython, .needs(shared: "golden", "models", "images"),
        arguments: StoragePrecision.allCases, pictures)
    func deepLab257(_ precision: StoragePrecision, file: String) throws {
        let model = try Model(path: ReferenceModel.deepLab257.path())
        let picture = try ImageFile.read(path: SharedFiles.path("images/" + file)).image
        let golden = SharedFiles.path("golden/deeplabv3-257/") + file.prefix { $0 != "." }
        let small = try run(
            model, picture, precision, SegmentationFormat(picture: picture.size, maskSize: .model))
        let atModelSize = agreement(small.categories, try labels(golden + ".labels.png").values)
        #expect(atModelSize >= Self.bar(precision))
        let large = try run(model, picture, precision, SegmentationFormat(picture: picture.size))
        let expected = try labels(golden + ".source-labels.png")
        #expect(expected.size == picture.size)
        let atPictureSize = agreement(large.categories, expected.values)
        #expect(atPictureSize >= min(0.999, Self.bar(precision)))
        print(
            "deeplabv3-257, \(precision.rawValue), \(file): labels equal at \(atModelSize), "
                + "at the picture's size at \(atPictureSize)")
        try ValidatedDevice.expectSilence()
    }

    @Test(
        "Other networks' masks of a photograph are the processor's", .needsPython,
        .needs(shared: "golden", "models", "images"), arguments: [ReferenceModel.apple, .coral, .selfie],
        StoragePrecision.allCases)
    func others(_ name: ReferenceModel, _ precision: StoragePrecision) throws {
        let model = try Model(path: name.path())
        let picture = try ImageFile.read(path: SharedFiles.path("images/coco_000000000139.jpg")).image
        let format = SegmentationFormat(picture: picture.size, outputs: SegmentationOutputs(confidenceClasses: [0, 1]))
        let result = try run(model, picture, precision, format)
        let reference = try FrameModel(model).reference(picture, format, on: CPUBackend())
        let same = agreement(result.categories, reference.categories)
        #expect(same >= Self.bar(precision))
        print("\(name.rawValue), \(precision.rawValue): labels equal at \(same)")
        try ValidatedDevice.expectSilence()
    }
}
