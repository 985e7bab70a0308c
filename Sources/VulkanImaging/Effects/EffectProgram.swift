import Effects
import VulkanBackend
import Base
import Imaging
import VulkanCompute

/// Draws an effect on a device: the matte, the colours of edges and what is behind the subject, at every pixel of a picture.
///
/// ```
/// upload --copy--> picture, functions --layer--> colours with opacities --shrink--> small copies --copy--> host
/// host (EdgeColors, BackgroundBlur) --copy--> grids --draw--> result --copy--> read-back
/// ```
/// An overlay has no such part in the middle: its layer and the classes, which are uploaded too, are all that it is drawn from.
///
/// Between the two parts the processor works on the small copies. It is the reference: `PictureDrawing.drawn()` gives the same
/// within one level. The opacities are the same to the bit, as the colours of an edge are divided by them.
///
/// A program draws one picture at a time; callers wait for each other.
package final class EffectProgram: @unchecked Sendable {
    package let format: EffectFormat
    /// Barriers between the commands of a drawing.
    package let barrierCount: Int

    private let memory: EffectMemory
    /// Up to the small copies, and from there to the result. An overlay has only the latter.
    private let layerCommands: CommandBuffer?
    private let drawCommands: CommandBuffer
    private let backdropCommands: CommandBuffer?
    private let submission: Submission
    /// The backdrop that lies in the device's memory. Its lock is the program's.
    private let keptBackdrop = Locked<Image?>(nil)

    /// Takes memory and records the commands.
    ///
    /// - Throws: `VulkanError` when the device has too little memory or cannot do a part of it.
    package convenience init(_ backend: VulkanBackend, _ format: EffectFormat) throws(VulkanError) {
        try self.init(backend, format, omittedBarrier: nil)
    }

    /// - Parameter omittedBarrier: A barrier of the first part that is left out, for the test that proves that validation would
    ///   notice.
    package init(_ backend: VulkanBackend, _ format: EffectFormat, omittedBarrier: Int?) throws(VulkanError) {
        self.format = format
        let (device, plan) = (backend.device, format.plan)
        func passes(to target: PixelSize) -> [ResamplePass] {
            ResamplePass.passes(
                for: FitGeometry(.stretch, picture: plan.size, network: target), stored: plan.size, orientation: .up)
        }
        let edgePasses = plan.isOverlay ? [] : passes(to: plan.edgeSize)
        let blurPasses = plan.blur.map { passes(to: $0.size) }
        let between = [edgePasses, blurPasses ?? []].filter { $0.count > 1 }.map { $0[0].size.pixelCount }
        let memory = try EffectMemory(device, format, intermediatePixels: between.max() ?? 0)
        self.memory = memory

        var layer = PictureCommands(backend)
        layer.append([
            .copy(from: memory.pictureUpload, to: memory.picture),
            .copy(from: memory.opacityUpload, to: memory.opacities),
        ])
        try layer.makeLayer(memory, format)
        if case .overlay(let colors) = plan.drawing, let classes = memory.classes, let upload = memory.classUpload {
            layer.append([.copy(from: upload, to: classes)])
            try layer.overlay(memory, colors, plan.size)
            layer.append([.copy(from: memory.result, to: memory.resultReadback.all)])
            layerCommands = nil
            backdropCommands = nil
            drawCommands = try CommandBuffer(
                device, layer.commands, timestamps: nil, omittedBarrier: omittedBarrier)
            submission = try Submission(device)
            barrierCount = drawCommands.barrierCount
            return
        }
        try layer.shrink(edgePasses, memory, from: plan.size, to: memory.small, .opacities)
        if let blur = plan.blur, let blurPasses, let weighted = memory.weighted {
            // What is resized is resized as RGBA; what is not is not touched.
            try layer.shrink(
                blurPasses, memory, from: plan.size, to: weighted, blur.isWhole ? .weights : .multipliedWeights)
        }
        layer.append([.copy(from: memory.copies, to: memory.copiesReadback.all)])

        var draw = PictureCommands(backend)
        draw.append([.copy(from: memory.gridUpload.all, to: memory.grids)])
        try draw.draw(memory, plan)
        draw.append([.copy(from: memory.result, to: memory.resultReadback.all)])

        let layerCommands = try CommandBuffer(
            device, layer.commands, timestamps: nil, omittedBarrier: omittedBarrier)
        self.layerCommands = layerCommands
        drawCommands = try CommandBuffer(device, draw.commands)
        backdropCommands = try memory.backdrop.map { backdrop throws(VulkanError) in
            try CommandBuffer(device, [.copy(from: memory.pictureUpload, to: backdrop)])
        }
        submission = try Submission(device)
        barrierCount = layerCommands.barrierCount + drawCommands.barrierCount
    }

    /// - Parameters:
    ///   - drawing: Of the program's format.
    ///   - timeLimit: Shared by all that the device does.
    /// - Throws: `VulkanError` when the device fails; the program is of no further use then.
    package func draw(_ drawing: PictureDrawing, _ timeLimit: DeviceTimeout) throws -> Image {
        precondition(EffectFormat(drawing) == format, "a drawing of another format")
        return try keptBackdrop.withLock { keptBackdrop in
            if let backdropCommands, let backdrop = drawing.backdrop, !backdrop.isSame(as: keptBackdrop) {
                keptBackdrop = nil
                load(backdrop)
                try run(backdropCommands, timeLimit)
                keptBackdrop = backdrop
            }
            load(drawing.picture)
            load(drawing.matte)
            guard let layerCommands else {
                if let contents = memory.classUpload?.contents { copy(drawing.classes, to: contents) }
                try run(drawCommands, timeLimit)
                return try result()
            }
            try run(layerCommands, timeLimit)
            let blurSize = format.plan.blur?.size
            let pass = PixelPass(
                format.plan, small: try copied(memory.small, format.plan.edgeSize),
                weighted: try memory.weighted.map { try copied($0, blurSize ?? format.plan.edgeSize) },
                backdrop: drawing.backdrop)
            load(pass)
            try run(drawCommands, timeLimit)
            return try result()
        }
    }

    private func run(_ commands: CommandBuffer, _ timeLimit: DeviceTimeout) throws {
        try submission.submit(commands)
        try timeLimit.measure { try submission.wait(nanoseconds: $0) }
    }

    private func load(_ picture: Image) {
        guard let contents = memory.pictureUpload.contents else { return }
        picture.withView { $0.copyWords(to: contents) }
    }

    private func load(_ matte: MatteSource) {
        guard let contents = memory.opacityUpload.contents else { return }
        switch matte {
        case .functions(let functions, _): copy(functions.values, to: contents)
        case .plane(let matte): copy(matte.opacities, to: contents)
        }
    }

    private func load(_ pass: PixelPass) {
        guard let contents = memory.gridUpload.contents, let edge = pass.edge else { return }
        let byteCount = 16 * edge.subject.values.count
        copy(edge.subject.values, to: contents)
        copy(edge.background.values, to: contents + byteCount)
        if case .grid(let colors) = pass.behind { copy(colors.values, to: contents + 2 * byteCount) }
    }

    private func copy(_ values: [some Any], to contents: UnsafeMutableRawPointer) {
        values.withUnsafeBytes { if let from = $0.baseAddress { contents.copyMemory(from: from, byteCount: $0.count) } }
    }

    /// A small copy of the layer.
    private func copied(_ range: BufferRange, _ size: PixelSize) throws(ImageError) -> Image {
        try image(memory.copiesReadback, range.offset - memory.copies.offset, size, .rgba)
    }

    private func result() throws(ImageError) -> Image {
        try image(memory.resultReadback, 0, format.plan.size, format.plan.drawing == .cutout ? .rgba : .rgb)
    }

    private func image(
        _ buffer: Buffer, _ offset: Int, _ size: PixelSize, _ format: PixelFormat
    ) throws(ImageError) -> Image {
        let count = size.pixelCount * format.channelCount
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            guard let to = bytes.baseAddress, let from = buffer.contents else { return }
            UnsafeMutableRawPointer(to).copyMemory(from: from + offset, byteCount: count)
            initialized = count
        }
        return try Image(width: size.width, height: size.height, format: format, bytes: bytes)
    }
}

extension Image {
    /// Whether a picture is the very same: the same bytes in the same place, which nobody changes while both are held.
    fileprivate func isSame(as other: Image?) -> Bool {
        guard let other, other.size == size else { return false }
        return bytes.withUnsafeBufferPointer { mine in
            other.bytes.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress }
        }
    }
}
