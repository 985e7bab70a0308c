import ModelGraph

/// The classes that two maps of scores give each pixel.
struct LabelComparison {
    /// Pixels of the same class in both.
    private(set) var agreeingPixelCount = 0
    /// Pixels of different class where the reference is not in doubt: its best score leads by more than `margin` times itself, or
    /// times 1 where it is smaller.
    private(set) var clearlyDifferentPixelCount = 0

    init(_ scores: Tensor, _ reference: Tensor, _ kind: OutputKind, margin: Double) {
        let channels = reference.shape.channels
        for pixel in 0..<reference.shape.pixelCount {
            let range = pixel * channels..<(pixel + 1) * channels
            let expected = Decision(reference.values[range], kind)
            if Decision(scores.values[range], kind).label == expected.label {
                agreeingPixelCount += 1
            } else if Double(expected.lead) > margin * max(1, Double(abs(expected.best))) {
                clearlyDifferentPixelCount += 1
            }
        }
    }

    /// The class of a pixel, and how far its score is above all others.
    private struct Decision {
        var label: Int
        var best, lead: Float

        init(_ scores: ArraySlice<Float>, _ kind: OutputKind) {
            let first = scores[scores.startIndex]
            guard scores.count > 1 else {
                // One channel: the subject where its probability is at least a half, which is a logit of 0.
                let threshold: Float = kind == .logits ? 0 : 0.5
                label = first >= threshold ? 1 : 0
                best = first
                lead = abs(first - threshold)
                return
            }
            // Of equals the first counts.
            var (place, second) = (scores.startIndex, -Float.infinity)
            for index in scores.indices.dropFirst() {
                if scores[index] > scores[place] {
                    second = scores[place]
                    place = index
                } else {
                    second = max(second, scores[index])
                }
            }
            label = place - scores.startIndex
            best = scores[place]
            lead = best - second
        }
    }
}
