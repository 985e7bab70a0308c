import Base
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
    /// Draws what shows the picture, and masks with an edge of their own.
    let renderer: EffectRenderer?

    /// The contents of the files that `OutputPlan` has planned for a picture, in its order.
    ///
    /// - Parameters:
    ///   - picture: The photograph, of the masks' size where the output shows it.
    ///   - name: The photograph's name, for messages.
    func files(_ picture: Image, _ result: ImageSegmenterResult, name: String) throws -> [FileContents] {
        let size = PixelSize(width: result.width, height: result.height)
        switch kind {
        case .mask:
            let mask =
                if let renderer {
                    renderer.categoryMask(picture, result)
                } else {
                    CategoryMask(width: size.width, height: size.height, categories: shownCategories(result))
                }
            let image = try Image(width: mask.width, height: mask.height, format: .gray, bytes: mask.categories)
            return [FileContents(bytes: try image.encodedAsIndexedPNG(palette: palette, name: name))]
        case .overlay, .cutout, .composite:
            guard let renderer else { return [] }
            return [FileContents(bytes: try renderer.draw(picture, result).encoded(as: format, name: name))]
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
///
/// - Parameter classes: The classes that were asked for. Nil: all.
package func findings(_ result: ImageSegmenterResult, among classes: Set<Int>? = nil) -> String? {
    guard let mask = result.categoryMask ?? result.pictureCategoryMask else { return nil }
    let counts = mask.histogram(classCount: result.labels.count)
    let found = counts.indices.dropFirst().filter { counts[$0] > 0 && classes?.contains($0) ?? true }
        .sorted { counts[$0] > counts[$1] }
    if found.isEmpty {
        let asked = classes.map { $0.filter { $0 > 0 }.sorted().map { result.labels[$0] } } ?? []
        return (1...5).contains(asked.count) ? "no \(asked.listed(with: "or"))" : "nothing but \(result.labels[0])"
    }
    let total = Double(mask.width * mask.height)
    return found.map { index in
        let (label, count) = (result.labels[index], counts[index])
        let percent = Double(count) / total * 100
        return label + " " + (percent < 0.05 ? "below 0.1" : decimal(percent, places: 1)) + " %"
    }.joined(separator: ", ")
}
