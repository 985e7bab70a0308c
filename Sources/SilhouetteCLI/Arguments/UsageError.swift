/// A command line that cannot be obeyed: one sentence that names the flag or operand, what is wrong and what to do.
///
/// The program prints it and ends with exit code 2.
package struct UsageError: Error, Equatable, CustomStringConvertible {
    /// The sentence, without the program's name and without a full stop.
    package let description: String

    /// Creates an error from its sentence.
    package init(_ description: String) { self.description = description }
}
