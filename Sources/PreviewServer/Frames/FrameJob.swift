import Base
import Imaging
import PreviewProtocol
import Silhouette

/// A picture as it came over the wire, checked as far as its header goes.
struct EncodedPicture: Sendable {
    let header: MessageHeader
    /// The whole message; the picture is behind its header.
    let message: [UInt8]
    /// What the message takes of all connections' memory. Nil: it is the server's own.
    let share: ByteBudget.Share?

    private static let formats: [PayloadEncoding: ImageFormat] = [.jpeg: .jpeg, .webp: .webp, .png: .png]

    /// Decodes the picture.
    ///
    /// - Throws: `badPicture` or `sizeMismatch`.
    func decode() throws(ProtocolError) -> Image {
        let (width, height) = (Int(header.width), Int(header.height))
        let result = message.withUnsafeBytes { bytes -> Result<Image, ProtocolError> in
            let payload = UnsafeRawBufferPointer(rebasing: bytes[MessageHeader.byteCount...])
            return Result { () throws(ProtocolError) in
                switch header.encoding {
                case .rgb: try Self.raw(payload, width, height, .rgb)
                case .rgba: try Self.raw(payload, width, height, .rgba)
                default: try file(payload, width, height)
                }
            }
        }
        return try result.get()
    }

    private static func raw(
        _ payload: UnsafeRawBufferPointer, _ width: Int, _ height: Int, _ format: PixelFormat
    ) throws(ProtocolError) -> Image {
        let needed = width * height * format.channelCount
        guard payload.count == needed else {
            throw ProtocolError(.sizeMismatch, "\(width)x\(height) \(format) has \(needed) bytes, not \(payload.count)")
        }
        do throws(ImageError) {
            return try Image(width: width, height: height, format: format, bytes: Array(payload))
        } catch {
            throw ProtocolError(.badPicture, error.reason.description)
        }
    }

    private func file(_ payload: UnsafeRawBufferPointer, _ width: Int, _ height: Int) throws(ProtocolError) -> Image {
        let format = Self.formats[header.encoding]
        guard let found = ImageFormat.sniff(payload), found == format else {
            throw ProtocolError(.badPicture, "the payload is no \(format?.title ?? "picture")")
        }
        do throws(ImageError) {
            // What is larger than announced is refused by its header, before it takes memory.
            let limits = ImageLimits(maxPixels: width * height)
            let image = try ImageFile.decode(payload, name: "frame", limits: limits).image
            guard image.width == width, image.height == height else {
                throw ImageError("frame", .inconsistent("\(image.width)x\(image.height)"))
            }
            return image
        } catch {
            switch error.reason {
            case .tooManyPixels(let actualWidth, let actualHeight, _):
                throw ProtocolError(
                    .sizeMismatch, "the picture is \(actualWidth)x\(actualHeight), its header says \(width)x\(height)")
            case .inconsistent(let size):
                throw ProtocolError(.sizeMismatch, "the picture is \(size), its header says \(width)x\(height)")
            default: throw ProtocolError(.badPicture, error.reason.description)
            }
        }
    }
}

/// A frame on its way through the server, and who waits for its masks.
final class FrameJob: PipelineJob {
    /// More pixels than most cameras have. Decoding so many takes a tenth of a second, the largest picture half of one.
    private static let largePixelCount = 1 << 22

    /// Those who are sent the same messages.
    struct Audience: Sendable {
        let program: FrameProgram
        let outputs: [SessionOutput]
    }

    let picture: EncodedPicture
    let audiences: [Audience]
    /// When its last byte had come.
    let arrival: ContinuousClock.Instant
    /// Whether the frame itself is sent with its masks.
    let showsPicture: Bool
    private let decoded = Locked<(image: Image?, milliseconds: Double)>((nil, 0))

    init(_ picture: EncodedPicture, audiences: [Audience], arrival: ContinuousClock.Instant, showsPicture: Bool) {
        self.picture = picture
        self.audiences = audiences
        self.arrival = arrival
        self.showsPicture = showsPicture
    }

    var sequence: UInt32 { picture.header.sequence }

    /// The server's own source is what everybody waits for.
    var isLarge: Bool {
        !showsPicture && Int(picture.header.width) * Int(picture.header.height) > Self.largePixelCount
    }

    func decode() throws(ProtocolError) {
        let start = ContinuousClock.now
        let image = try picture.decode()
        decoded.withLock { $0 = (image, (ContinuousClock.now - start) / .milliseconds(1)) }
    }

    func drop() { drop(audiences) }

    /// Tells some of those who wait that a newer frame came.
    private func drop(_ audiences: [Audience]) {
        for output in audiences.flatMap(\.outputs) {
            output.dropped(sequence, timestamp: picture.header.timestamp)
        }
    }

    /// Runs the frame through the network, for each audience.
    func run(leaveNetwork: @escaping @Sendable () -> Void) {
        guard let image = decoded.withLock({ $0.image }) else { return leaveNetwork() }
        run(image, audiences[...], leaveNetwork)
    }

    private func run(
        _ image: Image, _ audiences: ArraySlice<Audience>, _ leaveNetwork: @escaping @Sendable () -> Void
    ) {
        guard let audience = audiences.first else { return leaveNetwork() }
        let rest = audiences.dropFirst()
        audience.program.run(image) { [self] outcome in
            // The network goes on before masks are made into messages.
            run(image, rest, leaveNetwork)
            switch outcome {
            case .finished(let result): deliver(result, of: image, to: audience)
            case .failed(let error): fail(ProtocolError(.internal, "\(error)"), [audience])
            case .dropped: drop([audience])
            }
        }
    }

    private func deliver(_ result: ImageSegmenterResult, of image: Image, to audience: Audience) {
        let header = picture.header
        do {
            var messages = try audience.program.messages(
                for: result, of: image, sequence: sequence, timestamp: header.timestamp
            ).map(WireMessage.init)
            if showsPicture { messages.insert(pictureMessage, at: 0) }
            for output in audience.outputs {
                let figures = FrameProgram.Figures(
                    decodeMilliseconds: decoded.withLock { $0.milliseconds },
                    totalMilliseconds: (ContinuousClock.now - arrival) / .milliseconds(1),
                    droppedFrames: output.droppedFrameCount)
                let report = audience.program.report(of: result, figures)
                let end = PreviewMessage(.result, json: report.json, sequence: sequence, timestamp: header.timestamp)
                output.send(messages + [WireMessage(end)], sequence: sequence, timestamp: header.timestamp)
                output.metrics.framesSegmented(inferenceMilliseconds: report.inferenceMilliseconds)
            }
        } catch {
            fail(ProtocolError(.internal, "\(error)"), [audience])
        }
    }

    private var pictureMessage: WireMessage {
        let header = picture.header
        return WireMessage(
            PreviewMessage(
                .picture, .jpeg, sequence: sequence, timestamp: header.timestamp, width: header.width,
                height: header.height, payload: Array(picture.message[MessageHeader.byteCount...])))
    }

    func fail(_ error: ProtocolError) { fail(error, audiences) }

    /// Tells some of those who wait that there are no masks.
    private func fail(_ error: ProtocolError, _ audiences: [Audience]) {
        for output in audiences.flatMap(\.outputs) {
            output.refuse(error, sequence: sequence, timestamp: picture.header.timestamp)
        }
    }
}
