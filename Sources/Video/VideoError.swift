/// Why a film cannot be read or made: one line.
public struct VideoError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file or program, and what is wrong with it.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}
