import DeviceSupport
import Imaging
import ModelGraph
import PreviewProtocol
import PreviewServer
import Silhouette
import TestSupport

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
        options.shaderCacheFolder = nil
        return options
    }()

    /// A server of the small model.
    static func mini(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> PreviewServer {
        try start([ServedModel(id: "mini", model: mini, options: device)], change)
    }

    /// A server with a network of the test's own.
    static func fake(
        _ engine: any SegmentationEngine, labels: [String] = ["background", "person"],
        _ change: (inout ServerOptions) -> Void = { _ in }
    ) throws -> PreviewServer {
        let output = ModelOutput(
            labels: labels, channels: labels.count, size: PixelSize(width: 2, height: 1))
        let segmenter = try ImageSegmenter(options: ImageSegmenterOptions(), model: output, engine: engine)
        return try start(
            [
                ServedModel(
                    id: "fake", name: "fake", palette: .voc(count: labels.count), maskSize: output.size,
                    segmenter: segmenter)
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
