import CPUBackend
import ModelGraph

/// Makes masks of one size from the scores of the trunk.
protocol MaskSampler {
    /// The most likely class of each pixel.
    func categories(_ scores: UnsafeBufferPointer<Float>, into categories: UnsafeMutableBufferPointer<UInt8>)
    /// The probability of each of `classes` at each pixel.
    func confidences(
        _ scores: UnsafeBufferPointer<Float>, classes: [Int], into planes: [UnsafeMutableBufferPointer<Float>])
    /// The network's output at each pixel, channels innermost.
    func scores(_ scores: UnsafeBufferPointer<Float>, into values: UnsafeMutableBufferPointer<Float>)
}

extension ScoreSampler: MaskSampler {}
