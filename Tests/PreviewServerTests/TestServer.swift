import Dispatch
import Foundation
import Imaging
import ModelGraph
import PreviewProtocol
import PreviewServer
import Silhouette
import TestSupport

/// An engine that runs a frame when the test says so; its masks are as wide as the frame and one row high.
final class GatedEngine: SegmentationEngine {
    let deviceName = "gate"
    private let begun = DispatchSemaphore(value: 0)
    private let permits = DispatchSemaphore(value: 0)
    private let failingWidth: Int?

    /// - Parameter failingWidth: Frames of this width fail.
    init(failingWidth: Int? = nil) { self.failingWidth = failingWidth }

    /// Waits until a frame is in the network.
    func waitForFrame() { begun.wait() }

    /// Lets frames go on.
    func allow(_ count: Int = 1) { for _ in 0..<count { permits.signal() } }

    func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks {
        begun.signal()
        permits.wait()
        if image.width == failingWidth { throw .inferenceFailed("as the test asked") }
        return Masks(
            width: image.width, height: 1, deviceName: deviceName,
            categories: CategoryMask(
                width: image.width, height: 1, categories: [UInt8](repeating: 1, count: image.width)),
            timings: Timings(preprocessMilliseconds: 1, inferenceMilliseconds: 2, postprocessMilliseconds: 3))
    }
}

/// Servers for tests, on any free port.
enum TestServer {
    /// The small generated model that every checkout has: 65x65, 21 classes.
    static let mini: Model = {
        do {
            return try Model(path: Checkout.path("Tests/Fixtures/mini.safetensors"))
        } catch {
            fatalError("\(error)")
        }
    }()

    /// The processor's path with one thread.
    static let device: BaseOptions = {
        var options = BaseOptions()
        options.device = .cpu
        options.threadCount = 1
        return options
    }()

    /// A server of the small model.
    static func mini(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> PreviewServer {
        try start([ServedModel(id: "mini", model: mini, options: device)], change)
    }

    /// A server whose network waits for the test.
    static func gated(_ engine: GatedEngine, _ change: (inout ServerOptions) -> Void = { _ in }) throws -> PreviewServer
    {
        let output = ModelOutput(
            labels: ["background", "person"], channels: 2, size: PixelSize(width: 2, height: 1))
        let segmenter = try ImageSegmenter(options: ImageSegmenterOptions(), model: output, engine: engine)
        return try start(
            [
                ServedModel(
                    id: "gate", name: "gate", palette: .voc(count: 2), maskSize: output.size, segmenter: segmenter)
            ], change)
    }

    static func start(_ models: [ServedModel], _ change: (inout ServerOptions) -> Void) throws -> PreviewServer {
        var options = ServerOptions()
        options.port = 0
        change(&options)
        return try PreviewServer(options, models: models)
    }

    /// Frames of a small picture, as a page would send them.
    static func frame(_ sequence: UInt32, width: Int = 2, height: Int = 1, timestamp: UInt64? = nil) -> PreviewMessage {
        PreviewMessage(
            .frame, .rgb, sequence: sequence, timestamp: timestamp ?? UInt64(sequence) * 1000, width: UInt32(width),
            height: UInt32(height), payload: [UInt8](repeating: 128, count: width * height * 3))
    }

    static func settings(_ json: String) -> PreviewMessage { PreviewMessage(.settings, json: json) }

    /// The small model's picture.
    static let picture: Image = {
        do {
            return try ImageFile.read(path: Checkout.path("Tests/Fixtures/mini.input.png")).image
        } catch {
            fatalError("\(error)")
        }
    }()
}
