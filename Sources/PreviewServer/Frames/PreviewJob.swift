import Base
import Imaging
import PreviewProtocol
import Silhouette

/// A frame on its way through the server: what is made of it, and who waits for that.
final class PreviewJob: PipelineJob {
    /// More pixels than most cameras have. Decoding so many takes a tenth of a second, the largest picture half of one.
    private static let largePixelCount = 1 << 22

    private let picture: EncodedPicture
    private let plan: OutputPlan
    /// Those who are sent the same messages.
    private let outputs: [SessionOutput]
    /// When its last byte had come.
    private let arrival: ContinuousClock.Instant
    /// Whether the frame itself is sent with its masks.
    private let showsPicture: Bool
    private let outcome = Locked<Result<ImageSegmenterResult, ImageSegmenterError>?>(nil)

    init(
        _ picture: EncodedPicture, plan: OutputPlan, outputs: [SessionOutput], arrival: ContinuousClock.Instant,
        showsPicture: Bool
    ) {
        self.picture = picture
        self.plan = plan
        self.outputs = outputs
        self.arrival = arrival
        self.showsPicture = showsPicture
    }

    private var header: MessageHeader { picture.header }

    /// The server's own source is what everybody waits for.
    var isLarge: Bool { !showsPicture && Int(header.width) * Int(header.height) > Self.largePixelCount }

    func decode() throws(ProtocolError) { _ = try picture.decoded() }

    func run() {
        guard let image = try? picture.decoded().image else { return }
        let outcome = Result { () throws(ImageSegmenterError) in try plan.segment(image) }
        self.outcome.withLock { $0 = outcome }
    }

    func answer() {
        do {
            guard let result = try outcome.withLock({ $0 })?.get() else { return }
            try send(result, try picture.decoded())
        } catch {
            fail(ProtocolError(.internal, "\(error)"))
        }
    }

    private func send(_ result: ImageSegmenterResult, _ decoded: EncodedPicture.Decoded) throws {
        let (sequence, timestamp) = (header.sequence, header.timestamp)
        let answer = try plan.answer(result, of: decoded.image, sequence: sequence, timestamp: timestamp)
        var messages = answer.messages.map { WireMessage($0, version: plan.version) }
        if showsPicture { messages.insert(pictureMessage, at: 0) }
        for output in outputs {
            let figures = OutputPlan.Figures(
                decodeMilliseconds: decoded.milliseconds,
                totalMilliseconds: (ContinuousClock.now - arrival) / .milliseconds(1),
                droppedFrames: output.droppedFrameCount)
            let report = plan.report(of: result, figures, matteRadius: answer.matteRadius)
            let end = PreviewMessage(.result, json: report.json, sequence: sequence, timestamp: timestamp)
            output.send(
                messages + [WireMessage(end, version: plan.version)], sequence: sequence, timestamp: timestamp)
            output.metrics.framesSegmented(inferenceMilliseconds: report.inferenceMilliseconds)
        }
    }

    private var pictureMessage: WireMessage {
        WireMessage(
            PreviewMessage(
                .picture, .jpeg, sequence: header.sequence, timestamp: header.timestamp, width: header.width,
                height: header.height, payload: Array(picture.payload)), version: plan.version)
    }

    func drop() {
        for output in outputs { output.dropped(header.sequence, timestamp: header.timestamp) }
    }

    func fail(_ error: ProtocolError) {
        for output in outputs { output.refuse(error, sequence: header.sequence, timestamp: header.timestamp) }
    }
}
