import Imaging

/// Gives frames to other programs while they come.
package final class LiveWriter {
    /// Who gets them.
    package enum Target: Equatable, Sendable {
        /// Whoever reads this program's standard output: YUV4MPEG2.
        case standardOutput
        /// Whoever uses a virtual camera, the device of this path.
        case camera(String)
    }

    private let encoder: Encoder

    /// Starts the encoder.
    package init(_ target: Target, stream: EncodedStream) throws(VideoError) {
        switch target {
        case .standardOutput: encoder = try Encoder(stream, to: .standardOutput, name: "standard output")
        case .camera(let path): encoder = try Encoder(stream, to: .camera(path), name: path)
        }
    }

    /// Adds a frame of the stream's size.
    ///
    /// - Parameter microseconds: When it is shown; later than all before it, the first at 0.
    package func write(_ image: Image, microseconds: Int) throws(VideoError) {
        try encoder.write(image, microseconds: microseconds)
    }

    /// Waits until all frames are given.
    package func finish() throws(VideoError) { try encoder.finish() }
}
