import Imaging
import Silhouette

/// What a file holds: bytes, and behind them floats, which may be gigabytes and are not copied.
struct FileContents: Sendable {
    let bytes: [UInt8]
    var values: [Float] = []

    func write(to path: String) throws {
        try bytes.withUnsafeBytes { bytes in
            try values.withUnsafeBytes { values in try OutputFile.write([bytes, values], to: path) }
        }
    }
}

/// Makes the files of a picture from its masks.
struct Rendering: Sendable {
    let kind: SegmentOutput
    let format: ImageFormat
    let palette: Palette
    /// The classes that are shown, by index. Nil: all.
    let classes: Set<Int>?

    /// The contents of the files that `OutputPlan` has planned for a picture, in its order.
    ///
    /// - Parameters:
    ///   - picture: The photograph, of the masks' size where the output shows it.
    ///   - name: The photograph's name, for messages.
    func files(_ picture: Image, _ result: ImageSegmenterResult, name: String) throws -> [FileContents] {
        let size = PixelSize(width: result.width, height: result.height)
        switch kind {
        case .mask:
            let mask = try Image(
                width: size.width, height: size.height, format: .gray, bytes: shownCategories(result))
            return [FileContents(bytes: try mask.encodedAsIndexedPNG(palette: palette, name: name))]
        case .overlay:
            let overlay = shownCategories(result).withUnsafeBufferPointer {
                Compositing.overlay(picture, categories: $0, palette: palette)
            }
            return [FileContents(bytes: try overlay.encoded(as: format, name: name))]
        case .cutout:
            let shown = classes ?? Set(1..<max(2, result.labels.count))
            let opacity = (0..<256).map { shown.contains($0) ? UInt8.max : 0 }
            let alpha = (result.categoryMask?.categories ?? []).map { opacity[Int($0)] }
            let cutout = alpha.withUnsafeBufferPointer { Compositing.cutout(picture, alpha: $0) }
            return [FileContents(bytes: try cutout.encoded(as: format, name: name))]
        case .confidence:
            return try (result.confidenceMasks ?? []).map { mask in
                let plane = mask.confidences.withUnsafeBufferPointer { Compositing.grayPlane($0, size: size) }
                return FileContents(bytes: try plane.encoded(as: format, name: name))
            }
        case .scores:
            guard let scores = result.scores else { return [] }
            let header = NPY.header(shape: [scores.height, scores.width, scores.channels])
            return [FileContents(bytes: header, values: scores.values)]
        }
    }

    /// The category of each pixel, with background in place of classes that are not shown.
    private func shownCategories(_ result: ImageSegmenterResult) -> [UInt8] {
        guard let mask = result.categoryMask else { return [] }
        guard let classes else { return mask.categories }
        let shown = (0..<256).map { classes.contains($0) ? UInt8($0) : 0 }
        return mask.categories.map { shown[Int($0)] }
    }
}

/// What was found, for people: the classes but background by their share of the pixels, the largest first.
///
/// As in `person 31.2 %, dog 4.0 %`. Nil where there is no category mask.
package func findings(_ result: ImageSegmenterResult) -> String? {
    guard let mask = result.categoryMask else { return nil }
    let counts = mask.histogram(classCount: result.labels.count)
    let found = zip(result.labels, counts).dropFirst().filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }
    if found.isEmpty { return "nothing but \(result.labels[0])" }
    let total = Double(mask.width * mask.height)
    return found.map { label, count in
        let percent = Double(count) / total * 100
        return label + " " + (percent < 0.05 ? "below 0.1" : decimal(percent, places: 1)) + " %"
    }.joined(separator: ", ")
}
