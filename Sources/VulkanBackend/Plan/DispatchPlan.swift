import ModelGraph

/// What one binding of a planned dispatch is.
enum PlannedBinding: Hashable, Sendable {
    /// The tensor that is written.
    case destination(TensorID)
    /// A tensor that is read.
    case source(TensorID)
    /// A tensor that the shader declares and does not read: anything may be bound.
    case unused
    /// The weights of a convolution, by position in the plan's constants.
    case weights(Int)
    /// A table in a storage buffer, by position in the plan's constants.
    case table(Int)
}

/// A dispatch before it is bound to memory.
struct PlannedDispatch: Sendable {
    /// The layer that it does.
    var layer: String
    var kernel: Kernel
    var bindings: [PlannedBinding]
    var pushConstants: [UInt32]
    var workgroups: (x: Int, y: Int, z: Int)
}

/// Values that never change: weights or a table.
package struct PlannedConstant: Sendable {
    package enum Layout: Sendable {
        /// Weights that go into uniform blocks, as many as `slices`.
        case uniformBlocks(slices: Int)
        /// Weights that are read through the texture units or by address.
        case weights(ReadPath)
        /// A table of 32-bit words in a storage buffer.
        case table
    }

    var layout: Layout
    /// Bits of float32, or integers.
    var words: [UInt32]
}

extension PlannedConstant {
    package static func table(_ words: [UInt32]) -> PlannedConstant { PlannedConstant(layout: .table, words: words) }
}

/// Everything that a graph is on a device, before there is a device: dispatches in order, and the constants that they read.
///
/// It is a pure function of the graph, the batch and the choices in `PlanSettings`, so that plans are tested without a device.
package struct DispatchPlan: Sendable {
    package let graph: Graph
    package let settings: PlanSettings
    private(set) var dispatches: [PlannedDispatch] = []
    private(set) var constants: [PlannedConstant] = []

    init(_ graph: Graph, settings: PlanSettings) {
        self.graph = graph
        self.settings = settings
        for layer in graph.layers { append(layer) }
    }

    mutating func add(_ constant: PlannedConstant) -> Int {
        constants.append(constant)
        return constants.count - 1
    }

    mutating func add(_ dispatch: PlannedDispatch) { dispatches.append(dispatch) }
}

/// What a plan is made for.
package struct PlanSettings: Sendable {
    /// Pictures in every run.
    package var batch: Int
    package var precision: StoragePrecision
    /// The best way to read that the device has, as far as is known without measuring.
    package var readPath: ReadPath
    /// Invocations in a workgroup, where nothing else was chosen.
    var localSize: Int
    /// What was chosen for convolutions; for all others the standard variant is taken.
    var variants: [ConvolutionShape: KernelVariant] = [:]

    package init(batch: Int, precision: StoragePrecision, readPath: ReadPath, localSize: Int = 64) {
        self.batch = batch
        self.precision = precision
        self.readPath = readPath
        self.localSize = localSize
    }

    func variant(for shape: ConvolutionShape) -> KernelVariant { variants[shape] ?? .standard(for: shape, self) }
}
