/// Why a server does not start: one line.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    /// The flag, file or address, and what is wrong with it.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}
