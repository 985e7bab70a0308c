import Base
import PreviewProtocol
import Silhouette

/// One page's preview. Only the service thread calls it.
final class Session {
    let output: SessionOutput
    private let context: ServerContext
    private let announce: @Sendable () -> Void
    /// Where this page's frames go, and what it is called there.
    private var lane: (pipeline: DevicePipeline, client: Int)
    private let rules: MessageRules
    private let version: UInt8
    private var assembler: MessageAssembler
    private var order = ArrivalOrder()
    private var limiter: RateLimiter
    private var settingsLimiter = RateLimiter(rate: 20, burst: 20)
    /// Frames that came too fast, less those that did not.
    private var strikes = 0.0
    /// Of the page's own wish.
    private var pace: RateLimiter?
    private var plan: OutputPlan
    /// Settings whose device is being prepared, and the patches that have come meanwhile.
    private var pending: (settings: PreviewSettings, patches: [[UInt8]])?
    /// What came of that, from the thread that prepared it.
    private let preparation = Locked<Result<Void, ImageSegmenterError>?>(nil)
    /// What the message that is coming takes of all connections' memory.
    private var share: ByteBudget.Share

    /// - Throws: Where nothing can be computed for the page.
    init(_ context: ServerContext, version: UInt8, announce: @escaping @Sendable () -> Void) throws(ProtocolError) {
        self.context = context
        self.announce = announce
        self.version = version
        plan = try OutputPlan(PreviewSettings(version: version), models: context.models)
        let limits = context.options.limits
        output = SessionOutput(
            metrics: context.metrics, isViewer: context.broadcast != nil, version: version, announce: announce)
        let pipeline = try context.pipeline(of: plan.deviceID)
        lane = (pipeline, pipeline.addClient())
        rules = MessageRules(
            pixelLimit: min(limits.pixelCount, limits.framePixelCount), takesFrames: context.broadcast == nil,
            version: version)
        assembler = MessageAssembler(byteLimit: limits.messageByteCount)
        limiter = RateLimiter(rate: limits.framesPerSecond, burst: max(2, limits.framesPerSecond / 4))
        share = context.budget.share()
    }

    /// Whether a message has begun and not ended.
    var isInMessage: Bool { assembler.isInMessage }

    /// Greets the page.
    func begin() {
        context.metrics.count { $0.sessions += 1 }
        output.send(PreviewMessage(.hello, json: context.hello(version: version).json))
        context.broadcast?.add(output, plan, pipeline: lane.pipeline, pace: nil)
    }

    /// Forgets the page.
    func end() {
        context.metrics.count { $0.sessions -= 1 }
        lane.pipeline.removeClient(lane.client)
        context.broadcast?.remove(output)
    }

    /// Takes a piece of a message.
    func receive(_ piece: UnsafeRawBufferPointer, isLast: Bool) {
        context.metrics.count { $0.bytesReceived += piece.count }
        do throws(ProtocolError) {
            if !assembler.isPassingOver, !share.grow(by: piece.count) {
                assembler.passOver(ProtocolError(.busy, "too much is waiting in the server"))
                share = context.budget.share()
            }
            guard let (header, bytes) = try assembler.append(piece, isLast: isLast, check: rules.check) else { return }
            let share = self.share
            self.share = context.budget.share()
            if header.kind == .settings {
                try apply(Array(bytes[MessageHeader.byteCount...]))
            } else {
                try submit(EncodedPicture(header: header, payload: bytes[MessageHeader.byteCount...], share: share))
            }
        } catch {
            output.refuse(error, sequence: error.closeCode == nil ? assembler.sequence : 0)
            assembler.reset()
            share = context.budget.share()
        }
    }

    /// Refuses a message that is text.
    func refuseText() {
        output.refuse(
            ProtocolError(
                .malformed, "messages are binary, this one is text", closeCode: CloseCode.unsupportedData),
            sequence: 0)
    }

    private func apply(_ patch: [UInt8]) throws(ProtocolError) {
        guard settingsLimiter.admits(at: .now) else {
            throw ProtocolError(.rate, "more than \(Int(settingsLimiter.rate)) settings a second")
        }
        guard let waiting = pending?.patches.count else { return try change(patch) }
        guard waiting < Int(settingsLimiter.burst) else {
            throw ProtocolError(.rate, "\(waiting) settings wait for a device already")
        }
        pending?.patches.append(patch)
    }

    private func change(_ patch: [UInt8]) throws(ProtocolError) {
        let settings = try plan.settings.patched(with: patch)
        guard let (model, device) = try context.modelToPrepare(for: settings) else { return try install(settings) }
        // Frames go on with the settings in force.
        pending = (settings, [])
        context.preparation.async { [preparation, announce] in
            let outcome = Result { () throws(ImageSegmenterError) in try model.prepare(on: device) }
            preparation.withLock { $0 = outcome }
            announce()
        }
    }

    /// Goes on with settings whose device has been prepared.
    func resume() {
        let outcome = preparation.withLock { outcome in
            defer { outcome = nil }
            return outcome
        }
        guard let outcome, let (settings, patches) = pending else { return }
        pending = nil
        do throws(ProtocolError) {
            if case .failure(let error) = outcome { throw .settings("\(error)") }
            try install(settings)
        } catch {
            output.refuse(error, sequence: 0)
        }
        for patch in patches {
            // One of them may want another device: the rest waits again.
            if pending != nil {
                pending?.patches.append(patch)
                continue
            }
            do throws(ProtocolError) {
                try change(patch)
            } catch {
                output.refuse(error, sequence: 0)
            }
        }
    }

    private func install(_ settings: PreviewSettings) throws(ProtocolError) {
        let plan = try OutputPlan(settings, models: context.models)
        let pipeline = try context.pipeline(of: plan.deviceID)
        self.plan = plan
        if pipeline !== lane.pipeline {
            for job in lane.pipeline.removeClient(lane.client) { job.drop() }
            lane = (pipeline, pipeline.addClient())
        }
        pace = settings.maximumFramesPerSecond.map { RateLimiter(rate: $0, burst: 1.5) }
        var inForce = plan.filledSettings
        if !context.devices.isEmpty { inForce.device = plan.deviceID }
        inForce.maximumFramesPerSecond = settings.maximumFramesPerSecond ?? limiter.rate
        output.send(PreviewMessage(.settingsInForce, json: inForce.json))
        context.broadcast?.add(output, plan, pipeline: pipeline, pace: pace)
    }

    private func submit(_ picture: EncodedPicture) throws(ProtocolError) {
        context.metrics.count { $0.framesReceived += 1 }
        let now = ContinuousClock.now
        let header = picture.header
        do throws(ProtocolError) {
            try order.accept(header)
            guard limiter.admits(at: now) else {
                strikes += 1
                throw ProtocolError(
                    .rate, "more than \(limiter.rate) frames a second",
                    closeCode: strikes > 2 * limiter.rate ? CloseCode.policyViolation : nil)
            }
            strikes = max(0, strikes - 1)
        } catch {
            return output.refuse(error, sequence: header.sequence, timestamp: header.timestamp)
        }
        guard pace?.admits(at: now) ?? true else {
            return output.dropped(header.sequence, timestamp: header.timestamp)
        }
        lane.pipeline.submit(
            PreviewJob(picture, plan: plan, outputs: [output], arrival: now, showsPicture: false), of: lane.client)
    }
}
