/// Why a model file cannot be used.
package struct ModelError: Error, CustomStringConvertible, Sendable {
    /// Path of the file, or the name that its bytes were given.
    package let file: String
    /// What is wrong: the layer, tensor or key, and what was expected. One line.
    package let reason: String

    /// Whether a higher limit of memory would help.
    package let isPastMemoryLimit: Bool

    package init(file: String, _ reason: String, isPastMemoryLimit: Bool = false) {
        self.file = file
        self.reason = reason
        self.isPastMemoryLimit = isPastMemoryLimit
    }

    /// A model that takes more memory than it may.
    package init(file: String, memory byteCount: Int, limit: Int) {
        self.init(file: file, ModelFault(memory: byteCount, limit: limit).reason, isPastMemoryLimit: true)
    }

    /// One line: the file and the reason.
    package var description: String { "\(file): \(reason)" }
}

/// What is wrong with a file whose name is known further up.
struct ModelFault: Error {
    let reason: String
    let isPastMemoryLimit: Bool

    init(_ reason: String) {
        self.reason = reason
        isPastMemoryLimit = false
    }

    /// A model that takes more memory than it may.
    init(memory byteCount: Int, limit: Int) {
        let mebibyte = 1 << 20
        reason =
            "takes up to \((byteCount + mebibyte - 1) / mebibyte) MiB of memory, more than the limit of \(limit / mebibyte) MiB"
        isPastMemoryLimit = true
    }
}
