import VulkanImaging
import Base
import Imaging
import VulkanBackend

/// Draws effects on a Vulkan device.
///
/// For each effect and size of picture there is a program; the last two are kept. Before the first drawing of each kind a small
/// one is made by the processor as well, and what comes out must be the same within one level.
final class EffectDevice: Sendable {
    private let backend: VulkanBackend
    private let timeLimit: DeviceTimeout
    private let programs = Locked(RecentValues<EffectFormat, EffectProgram>(countLimit: 2, costLimit: byteLimit))
    private let checked = Locked<Set<Kind>>([])

    /// Bytes that the kept programs may take together: one of 20 megapixels, or two of 10.
    private static let byteLimit = 1 << 29

    /// Drawings that run the same shaders.
    private struct Kind: Hashable {
        let drawing, backdrop: Int
        let hasFunctions: Bool

        init(_ drawing: PictureDrawing) {
            let plan = drawing.plan
            self.drawing =
                switch plan.drawing {
                case .cutout: 0
                case .composite(.none): 1
                case .composite(.gray): 2
                case .composite(.dim): 3
                case .overlay: 4
                }
            backdrop =
                switch plan.backdrop {
                case .own: 0
                case .picture: 1
                case .blur(let blur): blur.isWhole ? 2 : 3
                }
            hasFunctions = if case .functions = drawing.matte { true } else { false }
        }
    }

    init(_ backend: VulkanBackend, _ timeLimit: DeviceTimeout) {
        self.backend = backend
        self.timeLimit = timeLimit
    }

    /// Draws a picture.
    ///
    /// - Throws: `PictureTooLarge`, or what the device throws, `SelfCheck.Failure` among it.
    func draw(_ drawing: PictureDrawing) throws -> Image {
        try check(drawing)
        let format = EffectFormat(drawing)
        let program = try programs.withLock { programs in
            try programs.value(for: format, cost: format.byteCount) {
                defer { backend.saveCompiledShaders() }
                return try fitting { try EffectProgram(backend, format) }
            }
        }
        return try program.draw(drawing, timeLimit)
    }

    private func check(_ drawing: PictureDrawing) throws {
        let kind = Kind(drawing)
        try checked.withLock { checked in
            guard !checked.contains(kind) else { return }
            let small = PictureDrawing(checking: drawing.plan, hasFunctions: kind.hasFunctions)
            let result = try EffectProgram(backend, EffectFormat(small)).draw(small, timeLimit)
            let expected = small.drawn()
            guard zip(result.bytes, expected.bytes).allSatisfy({ abs(Int($0) - Int($1)) <= 1 }) else {
                throw SelfCheck.Failure(
                    description: "its drawing of a test picture is not the processor's")
            }
            checked.insert(kind)
        }
    }
}

extension PictureDrawing {
    /// A small drawing that shows whether a device draws as it should: opacities of every kind, colours of every kind.
    ///
    /// - Parameter plan: What is to be drawn; of another size, and where colours, backgrounds and radii are others.
    fileprivate init(checking plan: PixelPassPlan, hasFunctions: Bool) {
        let picture = SelfCheck.picture
        let gridSize = PixelSize(width: 9, height: 7)
        // Confidences that rise from left to right, with the brightness in the lower half.
        let functions = Grid(
            gridSize,
            (0..<gridSize.pixelCount).map { index in
                let weight: Float = index / gridSize.width > 3 ? 0.2 : 0
                return SIMD4(weight, -weight, weight / 2, Float(index % gridSize.width) / 8)
            })
        let source = MatteSource.functions(functions, MatteRamp(slope: 2, offset: -0.5))
        let matte = hasFunctions ? source : .plane(source.matte(of: picture))
        if case .overlay(let colors) = plan.drawing {
            let classes = (0..<picture.size.pixelCount).map { UInt8($0 / picture.width % 5) }
            self.init(picture, matte, showing: classes, colors)
            return
        }
        let background: Background? =
            switch (plan.drawing, plan.backdrop) {
            case (.cutout, _), (.overlay, _): nil
            case (.composite(.gray), _): .gray
            case (.composite(.dim(let amount)), _): .dim(amount)
            case (.composite(.none), .blur(let blur)): .blur(radius: blur.isWhole ? 4 : 8)
            case (.composite(.none), _): .gradient(Gradient(colors: [.black, .white]))
            }
        self.init(picture, matte, over: background)
    }
}
