/// How two results of one frame differ.
struct FrameDifference: CustomStringConvertible {
    /// Pixels of another class, where the processor's best and second-best scores are more than 1e-4 apart, and all of them.
    var clearlyOther = 0
    var other = 0
    var pixelCount = 0
    var confidence: Float = 0
    var score: Float = 0

    init(_ result: FrameResult, from reference: FrameResult, isSubjectOnly: Bool, threshold: Float) {
        pixelCount = reference.categories.count
        let channels = reference.scores.count / max(1, pixelCount)
        if !result.categories.isEmpty {
            for pixel in reference.categories.indices where reference.categories[pixel] != result.categories[pixel] {
                other += 1
                let scores = reference.scores[pixel * channels..<(pixel + 1) * channels]
                let margin =
                    isSubjectOnly
                    ? abs(scores.first! - threshold)
                    : scores.max()! - (scores.sorted(by: >).dropFirst().first ?? -.infinity)
                if !(margin <= 1e-4) { clearlyOther += 1 }
            }
        }
        for (plane, expected) in zip(result.confidences, reference.confidences) {
            confidence = zip(plane, expected).reduce(confidence) { Swift.max($0, ($1.0 - $1.1).magnitudeOrInfinity) }
        }
        if !result.scores.isEmpty {
            score = zip(result.scores, reference.scores).reduce(0) { Swift.max($0, ($1.0 - $1.1).magnitudeOrInfinity) }
        }
    }

    var description: String {
        "\(other) of \(pixelCount) pixels of another class, \(clearlyOther) clearly; confidences \(confidence), "
            + "scores \(score) apart"
    }
}

extension Float {
    /// The magnitude; infinity for a NaN, which no comparison would find.
    fileprivate var magnitudeOrInfinity: Float { isNaN ? .infinity : magnitude }
}
