import ModelGraph

extension Option {
    /// `--max-model-memory`, the same for all commands.
    static func modelMemory(_ member: WritableKeyPath<Settings, Int> & Sendable) -> Option {
        integer(
            "max-model-memory", "MIB", in: 1...ModelLimits.mostMemoryByteCount >> 20,
            "Refuse models that would take more MiB of memory. (default: \(ModelLimits.memoryByteCount >> 20))"
        ) { $0[keyPath: member] = $1 << 20 }
    }
}

/// Reads a model that may take so many bytes.
///
/// - Parameter needed: Bytes that this command takes for it, where that is more than for one picture after the other.
func readModel(
    _ path: String, memoryLimit: Int, threads: Int? = nil, needed: (Model) -> Int = { _ in 0 }
) throws(ModelError) -> Model {
    do throws(ModelError) {
        let model = try Model(path: path, memoryLimit: memoryLimit, threadCount: threads)
        let byteCount = needed(model)
        guard byteCount <= memoryLimit else { throw ModelError(file: path, memory: byteCount, limit: memoryLimit) }
        return model
    } catch {
        guard error.isPastMemoryLimit else { throw error }
        throw ModelError(file: error.file, error.reason + "; --max-model-memory raises it", isPastMemoryLimit: true)
    }
}
