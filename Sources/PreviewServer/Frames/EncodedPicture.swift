import Base
import Imaging
import PreviewProtocol

/// A picture as it came over the wire, checked as far as its header goes. It is decoded once, whoever asks for it.
final class EncodedPicture: Sendable {
    /// A picture, and how long decoding it took.
    struct Decoded: Sendable {
        let image: Image
        let milliseconds: Double
    }

    let header: MessageHeader
    /// The picture's bytes.
    let payload: ArraySlice<UInt8>
    /// What the message takes of all connections' memory. Nil: it is the server's own.
    private let share: ByteBudget.Share?
    private let outcome = Locked<Result<Decoded, ProtocolError>?>(nil)

    init(header: MessageHeader, payload: ArraySlice<UInt8>, share: ByteBudget.Share? = nil) {
        self.header = header
        self.payload = payload
        self.share = share
    }

    /// What is made of a picture: masks, and what is between.
    private static let drawnBytesPerPixel = 12

    private static let formats: [PayloadEncoding: ImageFormat] = [.jpeg: .jpeg, .webp: .webp, .png: .png]

    /// The picture, which is decoded now if it was not before. Others who want it wait.
    ///
    /// - Throws: `badPicture` or `sizeMismatch`.
    func decoded() throws(ProtocolError) -> Decoded {
        let outcome = outcome.withLock { outcome in
            let known =
                outcome
                ?? Result { () throws(ProtocolError) in
                    let start = ContinuousClock.now
                    let image = try decode()
                    return Decoded(image: image, milliseconds: (ContinuousClock.now - start) / .milliseconds(1))
                }
            outcome = known
            return known
        }
        return try outcome.get()
    }

    private func decode() throws(ProtocolError) -> Image {
        let (width, height) = (Int(header.width), Int(header.height))
        let result = payload.withUnsafeBytes { payload in
            Result { () throws(ProtocolError) in
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
            try check(needed, PixelSize(width: width, height: height))
            return try Image(width: width, height: height, format: format, bytes: Array(payload))
        } catch {
            if case .tooMuchMemory = error.reason { throw ProtocolError(.tooLarge, error.reason.description) }
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
            let image = try ImageFile.decode(payload, name: "frame", limits: limits) { claim throws(ImageError) in
                try Self.check(claim.byteCount, claim.size)
            }.image
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
            case .tooMuchMemory: throw ProtocolError(.tooLarge, error.reason.description)
            default: throw ProtocolError(.badPicture, error.reason.description)
            }
        }
    }

    private static func check(_ byteCount: Int, _ size: PixelSize) throws(ImageError) {
        try ServerMemory.check(byteCount + drawnBytesPerPixel * size.pixelCount, size)
    }
}
