import Glibc
import Imaging

/// Gives frames to the program ffmpeg, which encodes them.
///
/// One thread writes. Whoever uses it ignores `SIGPIPE`, so that an encoder that dies is an error here.
final class Encoder {
    /// Where ffmpeg writes.
    enum Target {
        /// Into a file that is open for writing.
        case file(Int32, OutputFormat, quality: Int?, isFinal: Bool)
        /// Into this program's standard output, as YUV4MPEG2 of a constant rate.
        case standardOutput
        /// Into a device that programs see as a camera.
        case camera(String)
    }

    private let name: String
    private let stream: EncodedStream
    private var child: ChildProcess
    private let complaints: Complaints
    private var failure: VideoError?

    /// Starts ffmpeg.
    ///
    /// - Parameter name: What is written, for messages.
    init(_ stream: EncodedStream, to target: Target, name: String) throws(VideoError) {
        self.name = name
        self.stream = stream
        var open: [Int32] = []
        var output = ChildProcess.Stream.nothing
        switch target {
        case .file(let descriptor, _, _, _): open = [descriptor]
        case .standardOutput: output = .descriptor(STDOUT_FILENO)
        case .camera: break
        }
        child = try ChildProcess(Self.arguments(stream, target), input: .pipe, output: output, open: open)
        complaints = try Complaints(of: child.errors)
        let header = MatroskaWriter.header(
            width: stream.width, height: stream.height, hasAlpha: stream.hasAlpha, rate: stream.rate)
        // That it does not read any more is found out with the first frame.
        _ = header.withUnsafeBytes { writeAll($0, to: child.input) }
    }

    /// Writes a frame of the stream's size; it is brought into the stream's layout.
    ///
    /// - Parameter microseconds: When it is shown; later than all before it.
    func write(_ image: Image, microseconds: Int) throws(VideoError) {
        precondition(image.width == stream.width && image.height == stream.height, "frames have the stream's size")
        let image = image.converted(to: stream.hasAlpha ? .rgba : .rgb)
        let byteCount = image.width * image.height * image.format.channelCount
        let header = MatroskaWriter.frameHeader(microseconds: microseconds, byteCount: byteCount)
        let isWritten =
            header.withUnsafeBytes { writeAll($0, to: child.input) }
            && image.bytes.withUnsafeBytes { bytes in
                writeAll(UnsafeRawBufferPointer(rebasing: bytes[..<byteCount]), to: child.input)
            }
        if !isWritten { try end(mustFail: true) }
    }

    /// Waits until all frames are encoded.
    func finish() throws(VideoError) { try end(mustFail: false) }

    private func end(mustFail: Bool) throws(VideoError) {
        if let failure { throw failure }
        child.closeInput()
        let (complaint, loss) = (complaints.first, complaints.loss)
        let ending = child.wait()
        if ending == .exited(0), loss == nil, !mustFail { return }
        let reason: String
        switch ending {
        case .signalled(let signal): reason = "ffmpeg was ended by signal \(signal)"
        case .exited: reason = (loss ?? complaint).map { "ffmpeg: \($0)" } ?? "ffmpeg did not take all frames"
        }
        let error = VideoError("\(name): cannot be written: \(reason)")
        failure = error
        throw error
    }

    static func arguments(_ stream: EncodedStream, _ target: Target) -> [String] {
        var arguments = ["ffmpeg", "-nostdin", "-hide_banner", "-v", "error", "-y"]
        // A camera gives its frames when it is their time.
        if case .camera = target { arguments.append("-re") }
        arguments += ["-f", "matroska", "-i", "pipe:0", "-map", "0:v"]
        switch target {
        case .file(_, let format, let quality, let isFinal):
            arguments += format.encoderArguments(stream, quality: quality)
            arguments += ["-fps_mode", "passthrough", "-enc_time_base", stream.timeBase.description]
            arguments += format.muxerArguments(timeBase: stream.timeBase, isFinal: isFinal)
            arguments += ["-f", format.muxer, "file:/dev/fd/3"]
        case .standardOutput:
            arguments += plainFilters(stream)
            // It has no timestamps: frames are left out or repeated where the film's rate varies.
            arguments += ["-fps_mode", "cfr", "-r", (stream.rate ?? Rational(25, 1)!).description]
            arguments += ["-f", "yuv4mpegpipe", "pipe:1"]
        case .camera(let path):
            arguments += plainFilters(stream) + ["-fps_mode", "passthrough", "-f", "v4l2", path]
        }
        return arguments
    }

    /// What every program that reads uncompressed frames takes.
    private static func plainFilters(_ stream: EncodedStream) -> [String] {
        let filters = [stream.colors.encodingFilter, "format=yuv420p", stream.aspectFilter].compactMap(\.self)
        return ["-vf", filters.joined(separator: ",")]
    }
}
