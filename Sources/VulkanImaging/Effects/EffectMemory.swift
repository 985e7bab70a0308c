import Effects
import Imaging
import VulkanCompute

/// Where everything of a drawing lies.
///
/// ```
/// device:    picture | opacities | classes | layer | half resized | small copies | grids | backdrop | result
/// host:      picture | opacities | classes                                         grids             result
///            backdrop                                               small copies
/// ```
final class EffectMemory: Sendable {
    /// The picture, a word a pixel.
    let picture: BufferRange
    /// Functions, or opacities 4 in a word.
    let opacities: BufferRange
    /// The classes of an overlay, 4 in a word.
    let classes: BufferRange?
    /// Colours with opacities, a word a pixel.
    let layer: BufferRange
    /// Between the two passes of a resize.
    let resizeIntermediate: BufferRange?
    /// The layer shrunk for the colours of edges.
    let small: BufferRange
    /// The layer shrunk for a blur.
    let weighted: BufferRange?
    /// Both.
    let copies: BufferRange
    /// The colours of edges, and those of a blur.
    let grids: BufferRange
    /// Another picture, a word a pixel.
    let backdrop: BufferRange?
    let result: BufferRange

    /// Host memory for the picture and, behind it, opacities and classes.
    let upload: Buffer
    let gridUpload, copiesReadback, resultReadback: Buffer

    var pictureUpload: BufferRange { upload.range(0, picture.byteCount) }
    var opacityUpload: BufferRange { upload.range(opacities.offset, opacities.byteCount) }
    var classUpload: BufferRange? { classes.map { upload.range($0.offset, $0.byteCount) } }

    /// - Parameter intermediatePixels: 0 where every resize has one pass.
    init(_ device: LogicalDevice, _ format: EffectFormat, intermediatePixels: Int) throws(VulkanError) {
        let plan = format.plan
        let pixels = plan.size.pixelCount
        let alignment = device.physical.limits.bindingAlignment
        var layout = ArenaLayout(alignment: alignment)
        func reserve(_ byteCount: Int) -> Range<Int> {
            let offset = layout.reserve(byteCount)
            return offset..<offset + byteCount
        }
        let picture = reserve(pixels * 4)
        let opacities = reserve(format.functionsSize.map { $0.pixelCount * 16 } ?? (pixels + 3) / 4 * 4)
        let classes = plan.isOverlay ? reserve(format.classByteCount) : nil
        let uploadEnd = layout.byteCount
        let layer = reserve(pixels * 4)
        let resizeIntermediate = intermediatePixels > 0 ? reserve(intermediatePixels * 4) : nil
        let small = reserve(plan.edgeSize.pixelCount * 4)
        let weighted = plan.blur.map { reserve($0.size.pixelCount * 4) }
        let copiesEnd = layout.byteCount
        let grids = reserve(16 * (2 * plan.edgeSize.pixelCount + (plan.blur?.size.pixelCount ?? 0)))
        let backdrop = plan.backdrop == .picture ? reserve(pixels * 4) : nil
        let result = reserve(plan.drawing == .cutout ? pixels * 4 : (pixels + 3) / 4 * 12)

        let buffer = try Buffer(device, byteCount: layout.byteCount, .device)
        func range(_ bytes: Range<Int>) -> BufferRange { buffer.range(bytes.lowerBound, bytes.count) }
        self.picture = range(picture)
        self.opacities = range(opacities)
        self.classes = classes.map(range)
        self.layer = range(layer)
        self.resizeIntermediate = resizeIntermediate.map(range)
        self.small = range(small)
        self.weighted = weighted.map(range)
        copies = buffer.range(small.lowerBound, copiesEnd - small.lowerBound)
        self.grids = range(grids)
        self.backdrop = backdrop.map(range)
        self.result = range(result)

        upload = try Buffer(device, byteCount: uploadEnd, .upload)
        gridUpload = try Buffer(device, byteCount: grids.count, .upload)
        copiesReadback = try Buffer(device, byteCount: copies.byteCount, .readback)
        resultReadback = try Buffer(device, byteCount: result.count, .readback)
    }
}
