/// Why a model file cannot be used.
package struct ModelError: Error, CustomStringConvertible, Sendable {
    /// Path of the file, or the name that its bytes were given.
    package let file: String
    /// What is wrong: the layer, tensor or key, and what was expected. One line.
    package let reason: String

    package init(file: String, _ reason: String) {
        self.file = file
        self.reason = reason
    }

    /// One line: the file and the reason.
    package var description: String { "\(file): \(reason)" }
}

/// What is wrong with a file whose name is known further up.
struct ModelFault: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
