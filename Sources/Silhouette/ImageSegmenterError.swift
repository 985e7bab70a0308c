/// Why a segmenter could not be made, or a picture not be segmented.
public enum ImageSegmenterError: Error, Equatable, Sendable, CustomStringConvertible {
    /// No model was named and none was found. The text says where one comes from.
    case noModel(String)
    /// The model file cannot be used: its path, and what is wrong with it.
    case unusableModel(path: String, reason: String)
    /// The device cannot run the model.
    case unusableDevice(String)
    /// Options that contradict each other or the model.
    case invalidOptions(String)
    /// A method of one running mode was called in another.
    case wrongRunningMode(needed: RunningMode, actual: RunningMode)
    /// A frame is not later than the one before it. It is left out; later frames are not affected.
    case timestampNotIncreasing(timestampInMilliseconds: Int, lastTimestampInMilliseconds: Int)
    /// Tiles of this side (`ImageSegmenterOptions.tileSide`) would be more than the picture may have.
    case tooManyTiles(width: Int, height: Int, tileSide: Int, limit: Int)
    /// A result cannot be drawn with: it is of another picture or model, or lacks what the effect needs.
    case unfitResult(String)
    /// The result would take more memory than `ImageSegmenter.resultByteLimit`.
    case resultTooLarge(width: Int, height: Int, channels: Int, byteCount: Int)
    /// The network did not run to its end.
    case inferenceFailed(String)

    /// One line: what is wrong and, where something can be done about it, what.
    public var description: String {
        switch self {
        case .noModel(let reason), .unusableDevice(let reason), .invalidOptions(let reason), .unfitResult(let reason):
            reason
        case .unusableModel(let path, let reason): "\(path): \(reason)"
        case .wrongRunningMode(let needed, let actual):
            "the segmenter runs in the mode \(actual.rawValue); this call needs the mode \(needed.rawValue)"
        case .timestampNotIncreasing(let timestamp, let last):
            "timestamp \(timestamp) ms is not later than \(last) ms, that of the frame before it"
        case .tooManyTiles(let width, let height, let side, let limit):
            "tiles of \(side) pixels would be more than \(limit) in a picture of \(width)x\(height); choose larger ones"
        case .resultTooLarge(let width, let height, let channels, let byteCount):
            "\(channels) planes of \(width)x\(height) would take \(byteCount >> 20) MiB, more than "
                + "\(ImageSegmenter.resultByteLimit >> 20) MiB; ask for masks at model size or for fewer classes"
        case .inferenceFailed(let reason): "the network did not run: \(reason)"
        }
    }
}
