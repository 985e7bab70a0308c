import Foundation
import Silhouette

/// The frames of a camera or a video, one after the other, as ffmpeg gives them: NV12, as cameras have it.
final class Camera {
    private let size: PixelSize
    private let process = Process()
    private let pipe = Pipe()

    init(_ source: String, size: PixelSize) throws {
        self.size = size
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let input = source.hasPrefix("/dev/") ? ["-f", "v4l2", "-i", source] : ["-re", "-i", "file:" + source]
        let fit = "scale=\(size.width):\(size.height):force_original_aspect_ratio=decrease:out_color_matrix=bt601"
        process.arguments =
            ["ffmpeg", "-v", "error", "-nostdin"] + input
            + ["-vf", "\(fit),pad=\(size.width):\(size.height):-1:-1", "-f", "rawvideo", "-pix_fmt", "nv12", "-"]
        process.standardOutput = pipe
        try process.run()
    }

    deinit { process.terminate() }

    /// The next frame. Nil: there is none any more.
    func next() throws -> Image? {
        let count = size.width * size.height * 3 / 2
        var bytes = Data()
        while bytes.count < count {
            guard let more = try pipe.fileHandleForReading.read(upToCount: count - bytes.count), !more.isEmpty else {
                return nil
            }
            bytes += more
        }
        return try bytes.withUnsafeBytes { try Image(nv12: $0, width: size.width, height: size.height) }
    }
}
