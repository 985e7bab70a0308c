import Glibc
import ModelGraph

/// By how much the likeliest class of a subject exceeds the likeliest other class, as a difference of logits.
package struct SubjectMargin {
    /// Infinite where there are no others, and negative infinite where the subject has no classes.
    package let value: Float
    /// Which of the subject's classes it is.
    package let likeliest: UInt8

    /// - Parameters:
    ///   - values: The network's output at one place. A single channel is the second of two classes.
    ///   - isSubject: Whether each class belongs to the subject, at most 256.
    ///   - isLogits: Whether the output is no probability.
    @inline(__always)
    package init(_ values: UnsafePointer<Float>, isSubject: [Bool], isSingle: Bool, isLogits: Bool) {
        var best = -Float.infinity
        var other = -Float.infinity
        var bestClass = 0
        for index in isSubject.indices {
            // Of a single channel the other class's logit is 0, and its probability what is left.
            let value: Float = !isSingle ? values[index] : index == 1 ? values[0] : isLogits ? 0 : 1 - values[0]
            if !isSubject[index] {
                other = max(other, value)
            } else if value > best {
                best = value
                bestClass = index
            }
        }
        likeliest = UInt8(truncatingIfNeeded: bestClass)
        if best == -.infinity || other == -.infinity {
            value = best == -.infinity ? -.infinity : .infinity
        } else {
            value = isLogits ? best - other : log(max(best, 1e-9)) - log(max(other, 1e-9))
        }
    }
}
