/// Why a film cannot be read or made: one line.
package struct VideoError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file or program, and what is wrong with it.
    package let description: String

    /// Creates an error.
    package init(_ description: String) { self.description = description }
}
