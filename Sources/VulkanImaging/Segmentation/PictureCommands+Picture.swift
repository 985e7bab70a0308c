import VulkanBackend
import Imaging
import ModelGraph
import VulkanCompute

extension PictureCommands {
    /// Adds the way from the stored picture to the network's input: orientation, resize, normalisation.
    ///
    /// - Parameter destination: The network's input.
    mutating func resize(
        _ passes: [ResamplePass], from memory: SegmentationMemory, to destination: BufferRange, geometry: FitGeometry,
        format: SegmentationFormat, input: ModelInput
    ) throws(VulkanError) {
        let tables = try BoundConstant.upload(
            [.table(input.normalizedBytes(backend.precision))] + passes.map { .table($0.taps.words) },
            to: backend.device)
        for (number, pass) in passes.enumerated() {
            let isFirst = number == 0
            let isLast = number == passes.count - 1
            let size = isLast ? geometry.network : pass.size
            let inner = isLast ? geometry.target : PixelRect(pass.size)
            let source = isFirst ? memory.pictures : memory.resizeIntermediate
            guard let source, let written = isLast ? destination : memory.resizeIntermediate else {
                preconditionFailure("two passes without memory between them")
            }
            let steps = pass.source
            let (along, across) =
                pass.direction == .rows ? (steps.right, steps.down) : (steps.down, steps.right)
            let padding = input.order == .gray ? format.padding.gray : format.padding
            try dispatch(
                "resize.\(pass.direction)", "resize_picture",
                variant: "\(precisionMacro) INTO_INPUT=\(isLast ? 1 : 0)",
                constants: [pass.direction == .columns ? 1 : 0, isFirst ? 1 : 0, input.order.code],
                [.written(written), .read(source), .table(tables[1 + number].resource), .table(tables[0].resource)],
                pushConstants: [
                    size.width, size.height, inner.x, inner.y, inner.width, inner.height, steps.first, along, across,
                    isFirst ? format.picture.pixelCount : passes[0].size.pixelCount, format.background.word,
                    padding.word,
                ], count: size.pixelCount, batch: format.batch)
        }
    }
}

extension ModelInput {
    /// `byte * scale + bias` of every byte, 256 for each channel in the network's order, as bits of float32.
    ///
    /// With float16 storage they are rounded to that here, so that no device rounds in its own way.
    fileprivate func normalizedBytes(_ precision: StoragePrecision) -> [UInt32] {
        zip(scale, bias).flatMap { scale, bias in
            (0..<256).map { byte in
                let value = bias.addingProduct(Float(byte), scale)
                return (precision == .float32 ? value : float(fromHalf: halfBits(of: value))).bitPattern
            }
        }
    }
}

extension ChannelOrder {
    /// As Shaders/resize_picture.comp counts them.
    fileprivate var code: UInt32 {
        switch self {
        case .rgb: 0
        case .bgr: 1
        case .gray: 2
        }
    }
}

extension RGBColor {
    /// Red in the lowest byte, then green and blue.
    var word: Int { Int(red) | Int(green) << 8 | Int(blue) << 16 }

    /// Its brightness in the place of red.
    fileprivate var gray: RGBColor { RGBColor(red: luminance(red, green, blue), green: 0, blue: 0) }
}
