import PreviewProtocol
import Silhouette

/// What all connections of a server share.
final class ServerContext: Sendable {
    let options: ServerOptions
    let models: [ServedModel]
    let metrics: Metrics
    let pipeline: FramePipeline
    /// The server's own source. Nil: pages send frames.
    let broadcast: Broadcast?
    let budget: ByteBudget

    init(_ options: ServerOptions, models: [ServedModel], sourceName: String?) throws {
        self.options = options
        self.models = models
        metrics = Metrics()
        budget = ByteBudget(limit: options.limits.bufferedByteCount)
        let isProcessor = models.first?.segmenter.deviceName.hasPrefix("CPU") ?? true
        pipeline = FramePipeline(networkLimit: isProcessor ? 1 : 3)
        // What no page could begin with shows when the server starts.
        _ = try FrameProgram(PreviewSettings(), models: models)
        broadcast = sourceName.map { [pipeline, metrics] in Broadcast(name: $0, pipeline: pipeline, metrics: metrics) }
    }

    /// What a page is greeted with.
    var hello: Hello {
        Hello(
            server: "silhouette \(SilhouetteVersion.string)", source: broadcast == nil ? .browser : .server,
            sourceName: broadcast?.name, models: models.map(\.description),
            device: models.first?.segmenter.deviceName ?? "",
            limits: .init(
                messageBytes: options.limits.messageByteCount, pixels: options.limits.pixelCount, framesInFlight: 2,
                framesPerSecond: options.limits.framesPerSecond))
    }
}
