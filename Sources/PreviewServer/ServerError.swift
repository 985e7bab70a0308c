/// Why a server does not start: one line.
package struct ServerError: Error, Sendable, CustomStringConvertible {
    /// The flag, file or address, and what is wrong with it.
    package let description: String

    /// Creates an error.
    package init(_ description: String) { self.description = description }
}
