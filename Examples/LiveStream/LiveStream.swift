import Foundation
import Silhouette

/// Segments a camera or a video as it comes, and prints what is seen.
///
///     LiveStream /dev/video0
///     LiveStream street.mp4
///
/// ffmpeg brings the frames, in the speed of the video. Where the network is slower than that, the newest frame wins.
@main
struct LiveStream {
    static func main() async {
        do {
            guard CommandLine.arguments.count == 2, !CommandLine.arguments[1].hasPrefix("-") else {
                throw Failure("usage: LiveStream VIDEO|/dev/videoN")
            }
            try await run(CommandLine.arguments[1])
        } catch {
            FileHandle.standardError.write(Data("LiveStream: \(error)\n".utf8))
            exit(1)
        }
    }

    static func run(_ source: String) async throws {
        let camera = try Camera(source, size: PixelSize(width: 640, height: 480))

        var options = ImageSegmenterOptions()
        options.runningMode = .liveStream
        var segmenter: ImageSegmenter? = try ImageSegmenter(options: options)

        // Results come here, in another task, until the segmenter is gone.
        guard let results = segmenter?.liveStreamResults() else { return }
        let printing = Task {
            for await event in results {
                let time = event.timestampInMilliseconds
                switch event.result {
                case .success(let result): print("\(time) ms: \(seen(result)); \(event.droppedFrameCount) dropped")
                case .failure(let error): print("\(time) ms: \(error)")
                }
            }
        }

        let start = ContinuousClock.now
        var timestamp = -1
        while let frame = try camera.next() {
            // Timestamps increase: two frames within a millisecond are a millisecond apart.
            timestamp = max(timestamp + 1, Int((ContinuousClock.now - start) / .milliseconds(1)))
            try segmenter?.segmentAsync(image: frame, timestampInMilliseconds: timestamp)
        }
        segmenter = nil
        await printing.value
        guard timestamp >= 0 else { throw Failure("\(source): ffmpeg gives no frames of it") }
    }

    /// The classes in a picture and their shares of it.
    static func seen(_ result: ImageSegmenterResult) -> String {
        guard let mask = result.categoryMask else { return "" }
        let counts = mask.histogram(classCount: result.labels.count)
        let found = zip(result.labels, counts).dropFirst().filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }
        if found.isEmpty { return "nothing" }
        return found.map { "\($0) \($1 * 100 / mask.categories.count) %" }.joined(separator: ", ")
    }
}

/// What went wrong, for people.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
