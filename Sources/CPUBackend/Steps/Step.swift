import Base
import CPUKernels
import ModelGraph

/// One layer, ready to run: what it needs is packed, and where its tensors lie is looked up when it runs.
protocol Step: AnyObject, Sendable {
    func run(_ context: StepContext)
}

/// What a step finds while it runs.
struct StepContext {
    let kernels: CKTable
    let pool: ThreadPool
    /// The first value of each tensor, by its index.
    let tensors: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    /// Scratch memory of each thread, as much as the neediest step asked for.
    let scratch: UnsafeMutablePointer<Float>
    let scratchStride: Int

    subscript(_ id: TensorID) -> UnsafeMutablePointer<Float> { tensors[id.index] }

    func scratch(of thread: Int) -> UnsafeMutablePointer<Float> { scratch + thread * scratchStride }
}

/// What steps are made from.
struct StepBuilder {
    let graph: Graph
    let lanes: Int
    let threadCount: Int
    /// The largest scratch memory that any step has asked for, in floats.
    private(set) var scratchCount = 0

    init(graph: Graph, lanes: Int, threadCount: Int) {
        self.graph = graph
        self.lanes = lanes
        self.threadCount = threadCount
    }

    func layout(_ id: TensorID) -> BlockedLayout { BlockedLayout(shape: graph.shape(of: id), lanes: lanes) }

    mutating func needScratch(_ count: Int) { scratchCount = max(scratchCount, (count + 15) / 16 * 16) }
}

extension Activation {
    var kernel: CKActivation {
        switch self {
        case .none: CKActivationNone
        case .relu: CKActivationRelu
        case .relu6: CKActivationRelu6
        case .hardSwish: CKActivationHardSwish
        case .hardSigmoid: CKActivationHardSigmoid
        case .sigmoid: CKActivationSigmoid
        }
    }
}

/// Cuts `count` items into tasks of `size`: task i covers `i * size ..< min((i + 1) * size, count)`.
struct Tasks: Sendable {
    let count: Int
    let size: Int

    var taskCount: Int { (count + size - 1) / size }

    func range(_ task: Int) -> Range<Int> { task * size..<min((task + 1) * size, count) }
}
