import Silhouette

/// A command line that cannot be obeyed: one sentence that names the flag or operand, what is wrong and what to do.
///
/// The program prints it and ends with exit code 2.
package struct UsageError: Error, Equatable, CustomStringConvertible {
    /// The sentence, without the program's name and without a full stop.
    package let description: String

    /// Creates an error from its sentence.
    package init(_ description: String) { self.description = description }
}

/// What `read` gives; what is wrong with a word is wrong with the command line.
///
/// - Parameter beginning: Of the sentence, where nobody else puts the flag there.
func reading<Value>(
    _ beginning: String = "", _ read: () throws(WordError) -> Value
) throws(UsageError) -> Value {
    do throws(WordError) {
        return try read()
    } catch {
        throw UsageError(beginning + error.description)
    }
}
