import Base
import Dispatch
import Imaging
import Silhouette

/// A live stream whose every frame is answered to the one who handed it in.
package final class LiveStream: Sendable {
    /// What became of a frame.
    package enum Outcome: Sendable {
        case finished(ImageSegmenterResult)
        case failed(ImageSegmenterError)
        /// A newer frame took its place before it was run.
        case dropped
    }

    package typealias Completion = @Sendable (Outcome) -> Void

    private struct Waiting {
        /// The stream's own clock: a page's may stand still for two frames, as browsers make them coarse.
        var lastTimestamp = 0
        var completions: [Int: Completion] = [:]
    }

    /// Hands outcomes to those who wait for them.
    private final class Relay: ImageSegmenterLiveStreamDelegate {
        let waiting = Locked(Waiting())
        /// Of its own, so that the stream runs its next frame while messages are made of the last one's masks.
        private let answers = DispatchQueue(label: "silhouette.masks", qos: .userInitiated)

        func imageSegmenter(
            _ imageSegmenter: ImageSegmenter, didFinishSegmentation result: ImageSegmenterResult?,
            timestampInMilliseconds timestamp: Int, error: (any Error)?
        ) {
            let (completion, dropped) = waiting.withLock { waiting in
                let completion = waiting.completions.removeValue(forKey: timestamp)
                // Frames are run in their order: an earlier one that has no outcome by now was replaced.
                let dropped = waiting.completions.filter { $0.key < timestamp }
                for key in dropped.keys { waiting.completions[key] = nil }
                return (completion, dropped)
            }
            let outcome: Outcome =
                if let result {
                    .finished(result)
                } else {
                    .failed(error as? ImageSegmenterError ?? .inferenceFailed("no result"))
                }
            answers.async {
                for (_, completion) in dropped.sorted(by: { $0.key < $1.key }) { completion(.dropped) }
                completion?(outcome)
            }
        }
    }

    private let relay = Relay()
    private let segmenter: ImageSegmenter

    /// A stream on the model and the device of `other`.
    package init(options: ImageSegmenterOptions, sharing other: ImageSegmenter) throws(ImageSegmenterError) {
        var options = options
        options.runningMode = .liveStream
        options.imageSegmenterLiveStreamDelegate = relay
        segmenter = try ImageSegmenter(options: options, sharing: other)
    }

    /// Runs a frame, unless another one comes while it still waits for the one before it.
    ///
    /// - Parameter completion: Called once, after those of earlier frames, and also where nobody holds the stream any more.
    package func run(_ image: Image, completion: @escaping Completion) {
        // Handing in under the lock keeps the times of two threads' frames in order.
        let refusal = relay.waiting.withLock { waiting -> ImageSegmenterError? in
            waiting.lastTimestamp += 1
            do throws(ImageSegmenterError) {
                try segmenter.segmentAsync(image: image, timestampInMilliseconds: waiting.lastTimestamp)
            } catch {
                return error
            }
            // The segmenter holds its delegate weakly.
            waiting.completions[waiting.lastTimestamp] = { [self] in
                withExtendedLifetime(self) {}
                completion($0)
            }
            return nil
        }
        if let refusal { completion(.failed(refusal)) }
    }
}
