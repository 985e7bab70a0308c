import Silhouette

/// Classes that are taken together, and what a network is asked for to tell how much of each pixel is of one of them.
struct ChosenClasses: Sendable {
    /// The classes whose confidences are summed: the chosen ones, or the others where those are fewer.
    let summed: [Int]
    private let isComplement: Bool

    /// - Parameter classCount: Classes of the model.
    init(_ chosen: [Int], classCount: Int) {
        let others = (0..<classCount).filter { !chosen.contains($0) }
        isComplement = others.count < chosen.count
        summed = isComplement ? others : chosen
    }

    /// The chosen classes' part of each pixel: the sum of their confidences, or what the others leave of 1, in 255 steps, rounded
    /// half up.
    ///
    /// - Parameter planes: The confidences of `summed`.
    func alpha(_ planes: [ConfidenceMask], pixelCount: Int) -> [UInt8] {
        guard let first = planes.first else { return [UInt8](repeating: isComplement ? 255 : 0, count: pixelCount) }
        var sum = first.confidences
        for plane in planes.dropFirst() {
            plane.confidences.withUnsafeBufferPointer { plane in
                sum.withUnsafeMutableBufferPointer { sum in
                    for index in sum.indices { sum[index] += plane[index] }
                }
            }
        }
        let (scale, offset): (Float, Float) = isComplement ? (-255, 255.5) : (255, 0.5)
        return [UInt8](unsafeUninitializedCapacity: pixelCount) { bytes, initialized in
            sum.withUnsafeBufferPointer { sum in
                for index in 0..<pixelCount {
                    let value = sum[index] * scale + offset
                    // A broken model's NaN is neither: 0.
                    bytes[index] = value >= 255 ? 255 : value > 0 ? UInt8(value) : 0
                }
            }
            initialized = pixelCount
        }
    }
}
