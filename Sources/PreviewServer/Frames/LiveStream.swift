import Imaging
import Silhouette

/// A live stream whose every frame is answered to the one who handed it in.
final class LiveStream: Sendable {
    typealias Completion = @Sendable (Result<ImageSegmenterResult, ImageSegmenterError>) -> Void

    /// Hands results to those who wait for them.
    private final class Relay: ImageSegmenterLiveStreamDelegate {
        private let waiting = Guarded<(next: Int, completions: [Int: Completion])>((1, [:]))

        func add(_ completion: @escaping Completion) -> Int {
            waiting.withLock { waiting in
                defer { waiting.next += 1 }
                waiting.completions[waiting.next] = completion
                return waiting.next
            }
        }

        func take(_ timestamp: Int) -> Completion? {
            waiting.withLock { $0.completions.removeValue(forKey: timestamp) }
        }

        func imageSegmenter(
            _ imageSegmenter: ImageSegmenter, didFinishSegmentation result: ImageSegmenterResult?,
            timestampInMilliseconds: Int, error: (any Error)?
        ) {
            guard let completion = take(timestampInMilliseconds) else { return }
            if let result {
                completion(.success(result))
            } else {
                completion(.failure(error as? ImageSegmenterError ?? .inferenceFailed("no result")))
            }
        }
    }

    private let relay = Relay()
    private let segmenter: ImageSegmenter

    /// A stream on the model and the device of `other`.
    init(options: ImageSegmenterOptions, sharing other: ImageSegmenter) throws(ImageSegmenterError) {
        var options = options
        options.runningMode = .liveStream
        options.imageSegmenterLiveStreamDelegate = relay
        segmenter = try ImageSegmenter(options: options, sharing: other)
    }

    /// Runs a frame. The one before it must have been answered: a stream drops what comes too soon.
    func run(_ image: Image, completion: @escaping Completion) {
        // The stream's own clock: a page's may stand still for two frames, as browsers make them coarse.
        let timestamp = relay.add(completion)
        do throws(ImageSegmenterError) {
            try segmenter.segmentAsync(image: image, timestampInMilliseconds: timestamp)
        } catch {
            relay.take(timestamp)?(.failure(error))
        }
    }
}
