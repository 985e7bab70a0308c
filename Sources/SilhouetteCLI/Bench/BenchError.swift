/// Why a benchmark cannot be done.
package struct BenchError: Error, CustomStringConvertible {
    /// One line.
    package let description: String

    package init(_ description: String) { self.description = description }
}
