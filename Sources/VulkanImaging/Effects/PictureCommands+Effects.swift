import Effects
import VulkanBackend
import Imaging
import VulkanCompute

extension PictureCommands {
    /// Adds the way from a picture and its opacities to the layer that everything else is drawn from.
    mutating func makeLayer(_ memory: EffectMemory, _ format: EffectFormat) throws(VulkanError) {
        let size = format.plan.size
        let count = size.pixelCount
        let bindings: [Binding] = [.written(memory.layer), .read(memory.picture), .read(memory.opacities)]
        switch format.opacities {
        case .plane:
            try dispatch(
                "layer", "effect_layer", variant: "FROM_PLANE=1", constants: [], bindings,
                pushConstants: [size.width, size.height, 0, 0, 0, 0], count: count, batch: 1)
        case .functions(let grid, let ramp):
            let taps = try BoundConstant.upload([.table(gridTaps(grid, over: size))], to: backend.device)[0]
            try dispatch(
                "layer", "effect_layer", variant: "FROM_PLANE=0", constants: [], bindings + [.table(taps.resource)],
                pushConstants: [
                    size.width, size.height, grid.width, grid.height, Int(ramp.slope.bitPattern),
                    Int(ramp.offset.bitPattern),
                ], count: count, batch: 1)
        }
    }

    /// What stands for opacities in a smaller copy of a layer.
    enum LayerReading: UInt32 {
        /// Themselves.
        case opacities = 0
        /// How much a pixel counts as background.
        case weights = 1
        /// That, and colours do not count more than it.
        case multipliedWeights = 2
    }

    /// Adds the way from the layer to a smaller copy of it.
    mutating func shrink(
        _ passes: [ResamplePass], _ memory: EffectMemory, from size: PixelSize, to destination: BufferRange,
        _ reading: LayerReading
    ) throws(VulkanError) {
        let tables = try BoundConstant.upload(passes.map { .table($0.taps.words) }, to: backend.device)
        var (source, sourceWidth) = (memory.layer, size.width)
        for (number, pass) in passes.enumerated() {
            let isLast = number == passes.count - 1
            guard
                let written = isLast
                    ? destination : memory.resizeIntermediate.map({ $0.first(pass.size.pixelCount * 4) })
            else { preconditionFailure("two passes without memory between them") }
            try dispatch(
                "shrink.\(pass.direction)", "resize_layer", variant: "",
                constants: [
                    pass.direction == .columns ? 1 : 0, number == 0 ? reading.rawValue : 0,
                    isLast && reading == .multipliedWeights ? 1 : 0,
                ], [.written(written), .read(source), .table(tables[number].resource)],
                pushConstants: [pass.size.width, pass.size.height, sourceWidth], count: pass.size.pixelCount, batch: 1)
            (source, sourceWidth) = (written, pass.size.width)
        }
    }

    /// Adds the drawing of an overlay.
    mutating func overlay(_ memory: EffectMemory, _ colors: OverlayColors, _ size: PixelSize) throws(VulkanError) {
        guard let classes = memory.classes else { preconditionFailure("an overlay without classes") }
        let words = (0..<256).map { UInt32(colors.palette[$0].word) }
        let table = try BoundConstant.upload([.table(words)], to: backend.device)[0]
        let quads = (size.pixelCount + 3) / 4
        try dispatch(
            "overlay", "effect_overlay", variant: "", constants: [],
            [.written(memory.result), .read(memory.layer), .read(classes), .table(table.resource)],
            pushConstants: [size.pixelCount, Int(colors.opacity)], count: quads, batch: 1)
    }

    /// Adds the drawing of a cut-out or composite.
    mutating func draw(_ memory: EffectMemory, _ plan: PixelPassPlan) throws(VulkanError) {
        let (size, edge) = (plan.size, plan.edgeSize)
        let blur = plan.blur?.size ?? PixelSize(width: 0, height: 0)
        let taps = gridTaps(edge, over: size) + (plan.blur.map { gridTaps($0.size, over: size) } ?? [])
        let table = try BoundConstant.upload([.table(taps)], to: backend.device)[0]
        let backdrop: UInt32 =
            switch plan.backdrop {
            case .own: 0
            case .picture: 1
            case .blur: 2
            }
        let (treatment, brightness): (UInt32, Float) =
            switch plan.drawing {
            case .cutout, .composite(.none), .overlay: (0, 1)
            case .composite(.gray): (1, 1)
            case .composite(.dim(let amount)): (2, 1 - amount)
            }
        try dispatch(
            "effect", "effect", variant: "", constants: [plan.drawing == .cutout ? 1 : 0, backdrop, treatment],
            [
                .written(memory.result), .read(memory.layer), .read(memory.grids), .table(table.resource),
                .read(memory.picture), .read(memory.backdrop ?? memory.picture),
            ],
            pushConstants: [
                size.width, size.height, edge.width, edge.height, blur.width, blur.height, Int(brightness.bitPattern),
            ], count: (size.pixelCount + 3) / 4, batch: 1)
    }

    /// Where the rows and columns of a picture lie on a grid, as Shaders/include/bilinear.glsl reads it.
    private func gridTaps(_ grid: PixelSize, over size: PixelSize) -> [UInt32] {
        [LinearTaps(grid.height, over: size.height), LinearTaps(grid.width, over: size.width)].flatMap { taps in
            zip(taps.indices, taps.fractions).flatMap { [UInt32($0), $1.bitPattern] }
        }
    }
}

extension BufferRange {
    /// The beginning of the range.
    fileprivate func first(_ byteCount: Int) -> BufferRange {
        precondition(byteCount <= self.byteCount, "a part past the end of its range")
        return buffer.range(offset, byteCount)
    }
}
