import Base
import CPUKernels
import ModelGraph

/// Runs networks on the processor.
///
/// Activations are blocked by the width of a vector register, weights are packed once, and all tensors between the layers
/// share one arena. The instruction set is chosen when the backend is made, among those that the processor has.
package final class CPUBackend: InferenceBackend {
    package let instructionSet: InstructionSet
    /// Threads that work on a network, the caller's among them.
    package var threadCount: Int { pool.threadCount }

    let pool: ThreadPool
    let kernels: CKTable

    /// - Parameters:
    ///   - threads: Threads that work on a network; nil for one on each processor that the process may use.
    ///   - instructionSet: Nil for the best one that the processor has.
    /// - Throws: `CPUBackendError` when the processor or this build lacks the instruction set, or `threads` is out of range.
    package init(threads: Int? = nil, instructionSet: InstructionSet? = nil) throws(CPUBackendError) {
        let set = instructionSet ?? .best
        guard let table = ck_table(set.rawValue) else { throw .missingInstructionSet(set) }
        let count = threads ?? Self.processorCount
        guard (1...Self.mostThreads).contains(count) else { throw .threadsOutOfRange(count) }
        self.instructionSet = set
        kernels = table.pointee
        pool = ThreadPool(threadCount: count)
    }

    /// The largest number of threads that can be asked for.
    package static let mostThreads = 256

    /// As in `CPU (AVX2, 2 threads)`.
    package var deviceName: String {
        "CPU (\(instructionSet), \(threadCount) thread\(threadCount == 1 ? "" : "s"))"
    }

    /// Prepares a graph for repeated runs.
    ///
    /// - Throws: `CPUBackendError` when tensors and packed weights do not fit into the memory that a network may take.
    package func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph {
        try CPUGraph(graph, batch: batch, backend: self)
    }
}

/// Why the processor cannot be used as asked.
package enum CPUBackendError: Error, CustomStringConvertible, Sendable {
    /// The processor, or this build, does not have the instructions.
    case missingInstructionSet(InstructionSet)
    /// Not a number of threads that can be.
    case threadsOutOfRange(Int)
    /// Tensors and packed weights need more memory than a network may take.
    case tooLarge(byteCount: Int, limit: Int)

    /// One line: what is wrong and what to do.
    package var description: String {
        switch self {
        case .missingInstructionSet(let set):
            let others = InstructionSet.available.map(\.rawValue).joined(separator: ", ")
            return "this processor has no \(set) instructions; it has \(others)"
        case .threadsOutOfRange(let count):
            return "\(count) threads cannot be used; choose 1 to \(CPUBackend.mostThreads)"
        case .tooLarge(let byteCount, let limit):
            return
                "the network needs at least \(byteCount >> 20) MiB for tensors and packed weights, "
                + "more than the \(limit >> 20) MiB allowed"
        }
    }
}
