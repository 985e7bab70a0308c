import CPUBackend
import ModelGraph

extension SubjectMap {
    /// - Parameters:
    ///   - margins: By how much the logit of the subject's likeliest class exceeds that of the likeliest other.
    ///   - scoreSize: Size of the network's scores before its last resize.
    ///   - keepsBackground: Whether class 0 belongs to the subject.
    init(
        _ size: PixelSize, margins: [Float], classes: [UInt8], geometry: FitGeometry, scoreSize: PixelSize,
        keepsBackground: Bool
    ) {
        let columns = Float(geometry.source.width) * Float(geometry.network.width) / Float(geometry.target.width)
        let rows = Float(geometry.source.height) * Float(geometry.network.height) / Float(geometry.target.height)
        self.init(
            size: size, confidences: margins.map { Self.confidence(ofMargin: $0) }, classes: classes,
            geometry: geometry, cell: max(columns / Float(scoreSize.width), rows / Float(scoreSize.height)),
            unseenConfidence: keepsBackground ? 1 : 0)
    }

    /// A map from the network's output as it is.
    ///
    /// - Parameters:
    ///   - isSubject: Whether each class belongs to the subject.
    ///   - kind: What the output means. A single channel is the second of two classes.
    init(_ scores: ScoreMap, isSubject: [Bool], kind: OutputKind, geometry: FitGeometry, scoreSize: PixelSize) {
        let size = PixelSize(width: scores.width, height: scores.height)
        var margins = [Float](repeating: -.infinity, count: size.pixelCount)
        var classes = [UInt8](repeating: 0, count: size.pixelCount)
        let isSingle = scores.channels == 1
        scores.values.withUnsafeBufferPointer { values in
            guard let base = values.baseAddress else { return }
            for pixel in 0..<size.pixelCount {
                let margin = SubjectMargin(
                    base + pixel * scores.channels, isSubject: isSubject, isSingle: isSingle, isLogits: kind == .logits)
                margins[pixel] = margin.value
                classes[pixel] = margin.likeliest
            }
        }
        self.init(
            size, margins: margins, classes: classes, geometry: geometry, scoreSize: scoreSize,
            keepsBackground: isSubject.first ?? false)
    }
}
