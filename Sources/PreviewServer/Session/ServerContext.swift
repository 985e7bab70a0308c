import Base
import PreviewProtocol
import Silhouette

/// What all connections of a server share.
final class ServerContext: Sendable {
    let options: ServerOptions
    let models: [ServedModel]
    let metrics: Metrics
    /// Devices that pages may choose. Empty: there is no choice.
    let devices: [UsableDevice]
    /// Where devices that nobody used before are prepared.
    let preparation: SerialQueue
    /// The way of frames through each device, by its identifier, once somebody has used it.
    private let pipelines = Locked<[String: DevicePipeline]>([:])
    /// The server's own source. Nil: pages send frames.
    let broadcast: Broadcast?
    let budget: ByteBudget

    init(_ options: ServerOptions, models: [ServedModel], sourceName: String?) throws {
        self.options = options
        self.models = models
        preparation = try SerialQueue(name: "devices")
        metrics = Metrics()
        budget = ByteBudget(limit: options.limits.bufferedByteCount)
        let device = models.first?.segmenter.deviceID ?? ""
        let isChoice = options.devices.count > 1 && options.devices.contains { $0.id == device }
        devices = isChoice ? options.devices : []
        broadcast = sourceName.map { Broadcast(name: $0) }
        // What no page could begin with shows when the server starts.
        let plan = try OutputPlan(PreviewSettings(), models: models)
        do throws(ProtocolError) {
            _ = try pipeline(of: plan.deviceID)
        } catch {
            throw ServerError(error.message)
        }
    }

    /// The way of frames through a device that some model is on, or that was offered.
    ///
    /// - Throws: `internal` where the system has no threads left for it.
    func pipeline(of device: String) throws(ProtocolError) -> DevicePipeline {
        try pipelines.withLock { pipelines throws(ProtocolError) in
            if let pipeline = pipelines[device] { return pipeline }
            do throws(SystemError) {
                let pipeline = try DevicePipeline(networkLimit: device == "cpu" ? 1 : 3)
                pipelines[device] = pipeline
                return pipeline
            } catch {
                throw ProtocolError(.internal, "the device \(device) cannot be used: \(error)")
            }
        }
    }

    /// Ends the way of frames through all devices.
    func stop() {
        for pipeline in pipelines.withLock({ Array($0.values) }) { pipeline.stop() }
    }

    /// The model that settings name, if their device has to be prepared for it.
    ///
    /// - Throws: `badSettings` where there is no such device.
    func modelToPrepare(for settings: PreviewSettings) throws(ProtocolError) -> (model: ServedModel, device: String)? {
        guard let device = settings.device else { return nil }
        guard devices.contains(where: { $0.id == device }) else {
            let known = devices.isEmpty ? "no choice" : devices.map(\.id).joined(separator: ", ")
            throw .settings("there is no device \(device); there is \(known)")
        }
        let model = models.first { $0.id == settings.model } ?? models[0]
        return model.segmenter(on: device) == nil ? (model, device) : nil
    }

    /// What a page is greeted with.
    ///
    /// - Parameter version: Of the protocol that it speaks.
    func hello(version: UInt8) -> Hello {
        Hello(
            server: "silhouette \(SilhouetteVersion.string)", source: broadcast == nil ? .browser : .server,
            sourceName: broadcast?.name, models: models.map(\.description),
            device: (devices.isEmpty ? models.first?.segmenter.deviceName : models.first?.segmenter.deviceID) ?? "",
            devices: devices.map { ($0.id, $0.name) },
            limits: .init(
                messageBytes: options.limits.messageByteCount,
                pixels: min(options.limits.pixelCount, options.limits.framePixelCount), framesInFlight: 2,
                framesPerSecond: options.limits.framesPerSecond),
            matte: version >= 2 ? Hello.Matte(.standard) : nil)
    }
}

extension Hello.Matte {
    fileprivate init(_ constants: MatteConstants) {
        self.init(
            epsilon: Double(constants.epsilon), certainty: Double(constants.certainty),
            steepness: Double(constants.steepness), colorSide: constants.colorSide,
            colorRadii: [constants.colorRadii.far, constants.colorRadii.near])
    }
}
