import Imaging
import ModelGraph
import Silhouette

/// What is made of each frame, in two halves, so that one frame is drawn while the next one is segmented.
struct VideoEffect: Sendable {
    let segmenter: ImageSegmenter
    let output: VideoOutput
    let palette: Palette
    /// The classes that are shown; nil: all but background.
    let classes: Set<Int>?

    func segment(_ image: Image) throws -> ImageSegmenterResult { try segmenter.segment(image: image) }

    func draw(_ image: Image, _ result: ImageSegmenterResult) -> Image {
        let shown = classes ?? Set(1..<max(2, result.labels.count))
        let categories = result.categoryMask?.categories ?? []
        switch output {
        case .overlay:
            let kept = (0..<256).map { shown.contains($0) ? UInt8($0) : 0 }
            return categories.map { kept[Int($0)] }.withUnsafeBufferPointer {
                Compositing.overlay(image, categories: $0, palette: palette)
            }
        case .cutout:
            let opacity = (0..<256).map { shown.contains($0) ? UInt8.max : 0 }
            return categories.map { opacity[Int($0)] }.withUnsafeBufferPointer {
                Compositing.cutout(image, alpha: $0)
            }
        }
    }
}
