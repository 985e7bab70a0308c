import Imaging
import VulkanCompute

/// Where everything of a frame but the network's tensors lies in a device's memory.
///
/// ```
/// pictures | half resized | what is read back: categories, confidences, scores, categories at the picture's size
/// ```
/// Rows of masks are filled up to whole groups of 4 pixels: a shader writes words, never single bytes.
/// Results lie `[picture][row]`, confidences class by class.
final class SegmentationMemory: Sendable {
    /// A result: where it lies, and how many bytes of it belong to one picture.
    struct Result: Sendable {
        let range: BufferRange
        let bytesPerPicture: Int
    }

    let pictures: BufferRange
    /// Pixels between the passes of the resize.
    let resizeIntermediate: BufferRange?
    let categories, scores, pictureCategories: Result?
    /// One for each class that is wanted, at equal distances.
    let confidences: [Result]
    /// All results that the host wants, one after another.
    let results: BufferRange

    /// - Parameters:
    ///   - masks: Size of the masks.
    ///   - pictureMasks: Size of a category mask besides. Nil: there is none.
    ///   - channels: Channels of the network's output.
    ///   - intermediatePixels: Pixels of one picture between the passes of the resize, 0 where there is one pass.
    init(
        _ device: LogicalDevice, format: SegmentationFormat, masks: PixelSize, pictureMasks: PixelSize?, channels: Int,
        intermediatePixels: Int
    ) throws(VulkanError) {
        let outputs = format.outputs
        let quads = (masks.width + 3) / 4
        var layout = ArenaLayout(alignment: device.physical.limits.bindingAlignment)
        typealias Place = (offset: Int, byteCount: Int)
        func reserve(_ bytesPerPicture: Int) -> Place? {
            guard bytesPerPicture > 0 else { return nil }
            return (layout.reserve(bytesPerPicture * format.batch), bytesPerPicture)
        }
        let pictures = reserve(format.picture.pixelCount * 4)
        let resizeIntermediate = reserve(intermediatePixels * 4)
        let start = layout.byteCount
        let categories = outputs.categories ? reserve(masks.height * quads * 4) : nil
        let confidences = outputs.confidenceClasses.compactMap { _ in reserve(masks.height * quads * 16) }
        let scores = outputs.scores ? reserve(masks.pixelCount * channels * 4) : nil
        let pictureCategories = pictureMasks.flatMap { reserve($0.height * (($0.width + 3) / 4) * 4) }
        precondition(layout.byteCount > start, "a frame without outputs")

        let buffer = try Buffer(device, byteCount: layout.byteCount, .device)
        func range(_ place: Place) -> BufferRange { buffer.range(place.offset, place.byteCount * format.batch) }
        func result(_ place: Place?) -> Result? {
            place.map { Result(range: range($0), bytesPerPicture: $0.byteCount) }
        }
        self.pictures = range(pictures!)  // a picture has pixels
        self.resizeIntermediate = resizeIntermediate.map(range)
        self.categories = result(categories)
        self.confidences = confidences.compactMap(result)
        self.scores = result(scores)
        self.pictureCategories = result(pictureCategories)
        results = buffer.range(start, layout.byteCount - start)
    }
}
